# ruff: noqa: E501 - one entry a line, however long its text
"""The tasks about accounts."""

from __future__ import annotations

from runs.demo.task import Call, Rubric, Slip, Spoiled, Task

DEPOSIT = Task(
    file="rental_desk_accounts.py",
    name="test_settle_deposit_after_damage",
    domain="Accounts",
    language="en",
    query="Hi, Marcus Oyelaran. I brought the wacker back Sunday, the belt guard cracked, fair enough, my fault. Can you take what it costs off the deposit for C-7019 and let the rest go? My card is still blocked.",
    context="You are Marcus Oyelaran, contract C-7019. You admit that you broke the guard. You want the rest of the 250.00 deposit released today and a receipt for the damage.",
    reads=(
        (Call("customers_find", {"search": "Oyelaran"}), Call("rentals_find", {"contract_id": "C-7019"})),
        (Call("deposits_find", {"contract_id": "C-7019"}), Call("invoices_find", {"contract_id": "C-7019"})),
    ),
    writes=(
        Call("deposits_capture", {"deposit_id": "DEP-8104", "amount": 85.0, "reason": "Belt guard broken"}),
        Call("deposits_release", {"deposit_id": "DEP-8104", "amount": 165.0}),
        Call("invoices_raise", {"contract_id": "C-7019", "kind": "damage", "amount": 85.0, "memo": "Belt guard, paid from the deposit"}),
    ),
    wordings={
        (0, "reason"): ("Belt guard broken", "Guard or cover broken (belt guard, plate compactor)", "Customer admits cracked belt guard."),
        (2, "memo"): ("Belt guard, paid from the deposit", "Damage: guard broken. Paid at once from DEP-8104.", "Guard 85.00, captured from deposit 👷"),
    },
    slips=(
        Slip(0, {"amount": 45.0}, "A cracked guard is minor; the small charge of 45.00 will do."),
        Slip(1, {"amount": 150.0}, "250 less 85 is… 150 to be on the safe side."),
        Slip(2, {"amount": 165.0}, "The receipt is for what he gets back."),
        Slip(2, {"kind": "hire"}, "An invoice on the contract, kind hire."),
    ),
    extras=(
        Call("invoices_raise", {"contract_id": "C-7019", "kind": "damage", "amount": 45.0, "memo": "Returned dirty"}),
        Call("desk_open_case", {"customer_id": "CU-108", "contract_id": "C-7019", "topic": "billing", "priority": "normal", "summary": "Damage charge, for information."}),
    ),
    others=(
        (
            (
                Call("deposits_capture", {"deposit_id": "DEP-8104", "amount": 250.0, "reason": "Damage"}),
                Call("invoices_raise", {"contract_id": "C-7019", "kind": "damage", "amount": 85.0, "memo": "Guard"}),
            ),
            "Capture the deposit first; the rest can be paid back later.",
        ),
    ),
    refused=Call("deposits_capture", {"deposit_id": "DEP-8104", "amount": 850.0, "reason": "Belt guard broken"}),
    insights=(
        "Guard or cover broken is 85.00 on the list. 250.00 − 85.00 leaves 165.00.",
        "Both halves, else the card stays blocked, and then a damage invoice as receipt.",
        "He does not dispute the damage, so no case.",
    ),
    answers=(
        "Done, Marcus. 85.00 for the belt guard is taken from the deposit and the remaining 165.00 is released, so your card should be free shortly. An invoice for the 85.00, already paid, serves as your receipt. <DONE>",
        "| deposit DEP-8104 | amount |\n|---|---:|\n| held | 250.00 |\n| belt guard | −85.00 |\n| **released to you** | **165.00** |\n\nThe receipt for 85.00 is on your account. <DONE>",
        "Thanks for being straight about it. Guard: 85.00 from the deposit, the other 165.00 is on its way back to your card. Receipt raised. <DONE>",
    ),
    optional=(Call("receipts_show", {"invoice_id": "INV-9024"}),),
)  # fmt: skip

ORDER_NUMBER = Task(
    file="rental_desk_accounts.py",
    name="test_reissue_with_order_number",
    domain="Accounts",
    language="de",
    query="Guten Tag, Weber Gerüstbau, Jonas Weber. Auf der Rechnung INV-9015 fehlt unsere Bestellnummer, so kann meine Buchhaltung sie nicht zahlen. Es ist die WG-0045-26. Bitte einmal neu ausstellen.",
    context="Du bist Jonas Weber, Vertrag C-7022, Rechnung INV-9015 über 1122,00. Die Bestellnummer ist WG-0045-26. Sonst soll sich nichts ändern.",
    reads=(
        (Call("customers_find", {"search": "Weber"}), Call("invoices_find", {"customer_id": "CU-109"})),
        (Call("rentals_find", {"contract_id": "C-7022"}),),
    ),
    writes=(
        Call("rentals_set_po", {"contract_id": "C-7022", "po_number": "WG-0045-26"}),
        Call("invoices_credit", {"invoice_id": "INV-9015", "reason": "reissue"}),
        Call("invoices_raise", {"contract_id": "C-7022", "kind": "hire", "amount": 1122.0, "memo": "Rollgerüst, 22 Tage"}),
    ),
    wordings={(2, "memo"): ("Rollgerüst, 22 Tage", "Ersatz für INV-9015, Rollgerüst, 22 Tage", "Neu ausgestellt mit Bestellnummer WG-0045-26")},
    slips=(
        Slip(0, {"po_number": "WG-45-26"}, "Bestellnummer WG-45-26, die Nullen sind nur Auffüllung."),
        Slip(1, {"reason": "goodwill"}, "Gutschrift aus Kulanz."),
        Slip(2, {"amount": 1222.0}, "Neue Rechnung über 1222,00."),
    ),
    extras=(
        Call("notices_send", {"customer_id": "CU-109", "channel": "email", "template": "general", "body": "Ihre Rechnung wurde neu ausgestellt."}),
        Call("invoices_raise", {"contract_id": "C-7022", "kind": "hire", "amount": 1122.0, "memo": "Zweite Ausfertigung"}),
    ),
    others=(
        (
            (
                Call("invoices_credit", {"invoice_id": "INV-9015", "reason": "reissue"}),
                Call("invoices_raise", {"contract_id": "C-7022", "kind": "hire", "amount": 1122.0, "memo": "Rollgerüst, 22 Tage"}),
                Call("rentals_set_po", {"contract_id": "C-7022", "po_number": "WG-0045-26"}),
            ),
            "Erst die alte Rechnung gutschreiben und neu ausstellen, dann die Nummer am Vertrag nachtragen.",
        ),
    ),
    refused=Call("invoices_credit", {"invoice_id": "INV-9105", "reason": "reissue"}),
    insights=(
        "The new invoice takes the order number from the contract: contract first, then credit, then raise.",
        "Die Bestellnummer genau übernehmen, mit den führenden Nullen.",
        "Betrag bleibt 1122,00, Art bleibt hire.",
    ),
    answers=(
        "Guten Tag Herr Weber, die Bestellnummer WG-0045-26 steht jetzt am Vertrag, INV-9015 ist gutgeschrieben und die neue Rechnung INV-9024 über 1.122,00 trägt Ihre Nummer. <DONE>",
        "Erledigt: alte Rechnung storniert (Gutschrift), neue Rechnung **INV-9024** mit Bestellnummer **WG-0045-26**, Betrag unverändert 1.122,00. <DONE>",
        "Ihre neue Rechnung INV-9024 ist ausgestellt und enthält die Bestellnummer WG-0045-26. INV-9015 ist damit hinfällig. Danke für den Hinweis! 🙂 <DONE>",
    ),
    optional=(Call("receipts_show", {"invoice_id": "INV-9024"}),),
)  # fmt: skip

DUPLICATE = Task(
    file="rental_desk_accounts.py",
    name="test_credit_duplicate_invoice",
    domain="Accounts",
    language="ar",
    query="مرحباً، أنا ليلى حداد من معارض حداد. وصلتنا فاتورتان بنفس المبلغ عن إضاءة المعرض (العقد C-7025) وقد دفعنا واحدة منهما. أرجو إلغاء الأخرى.",
    context="أنتِ ليلى حداد، العقد C-7025. دفعتِ الفاتورة INV-9020. تريدين إلغاء الفاتورة الثانية وتأكيداً بالبريد الإلكتروني.",
    reads=(
        (Call("customers_find", {"search": "haddad"}),),
        (Call("invoices_find", {"contract_id": "C-7025"}), Call("desk_find_cases", {"customer_id": "CU-110"})),
    ),
    writes=(
        Call("invoices_credit", {"invoice_id": "INV-9021", "reason": "duplicate"}),
        Call("desk_update_case", {"case_id": "CASE-306", "status": "resolved"}),
        Call("notices_send", {"customer_id": "CU-110", "channel": "email", "template": "credit_issued", "body": "تم إلغاء الفاتورة INV-9021."}),
    ),
    wordings={
        (2, "body"): (
            "تم إلغاء الفاتورة INV-9021.",
            "السيدة ليلى، ألغينا الفاتورة المكررة INV-9021 بمبلغ 2170.00. لا شيء مستحق عليكم.",
            "Duplicate invoice INV-9021 credited in full.",
        )
    },
    slips=(
        Slip(0, {"invoice_id": "INV-9020"}, "INV-9020 is the first of the two; credit that one."),
        Slip(0, {"reason": "goodwill"}, "A goodwill credit settles it."),
        Slip(1, {"status": "pending"}, "Accounts may want to look, so pending."),
        Slip(2, {"template": "general"}, "A general notice with the text is enough."),
    ),
    extras=(
        Call("desk_open_case", {"customer_id": "CU-110", "contract_id": "C-7025", "topic": "billing", "priority": "normal", "summary": "فاتورة مكررة"}),
    ),
    others=(
        (
            (
                Call("desk_open_case", {"customer_id": "CU-110", "contract_id": "C-7025", "topic": "billing", "priority": "normal", "summary": "Duplicate invoice"}),
                Call("invoices_credit", {"invoice_id": "INV-9021", "reason": "duplicate"}),
                Call("desk_update_case", {"case_id": "CASE-307", "status": "resolved"}),
                Call("notices_send", {"customer_id": "CU-110", "channel": "email", "template": "credit_issued", "body": "تم إلغاء الفاتورة المكررة."}),
            ),
            "Every credit needs a case; I open one and resolve it.",
        ),
    ),
    refused=Call("invoices_credit", {"invoice_id": "INV-9021", "reason": "مكرر"}),
    insights=(
        "INV-9020 is paid, INV-9021 is not: credit the unpaid one.",
        "A case is open already, CASE-306. Resolve it, no second one.",
        "نفس النوع والعقد والمبلغ: فاتورة مكررة.",
    ),
    answers=(
        "السيدة ليلى، ألغينا الفاتورة المكررة INV-9021 بمبلغ 2170.00 بالكامل. الفاتورة INV-9020 مدفوعة ولا شيء مستحق عليكم. أرسلنا تأكيداً إلى بريدكم الإلكتروني. <DONE>",
        "تم ✅ الفاتورة INV-9021 ملغاة، والطلب مغلق، والتأكيد في بريدكم. <DONE>",
        "نعتذر عن الخطأ. **INV-9021** كانت مكررة وقد أُلغيت بالكامل؛ أما **INV-9020** فمسددة. <DONE>",
    ),
)  # fmt: skip

ON_STOP = Task(
    file="rental_desk_accounts_rubrics_yesno.py",
    name="test_new_hire_while_on_stop",
    domain="Accounts",
    language="en",
    query="Declan, Byrne Paving. Need a 90 kilo plate for tomorrow morning, Eastfield if you have one. And why did the lad at the counter send me away? I've been coming for six years.",
    context="You are Declan Byrne of Byrne Paving. You want a plate compactor tomorrow. You did not know that invoices are overdue. If told, you say that you will pay this week and ask whether that helps.",
    reads=(
        (Call("customers_find", {"search": "Byrne"}),),
        (Call("invoices_find", {"customer_id": "CU-111"}), Call("desk_find_cases", {"customer_id": "CU-111"})),
    ),
    writes=(
        Call("desk_open_case", {"customer_id": "CU-111", "topic": "account_on_stop", "priority": "high", "summary": "Wants a plate compactor tomorrow; account on stop."}),
        Call("desk_update_case", {"case_id": "CASE-307", "status": "pending"}),
    ),
    wordings={
        (0, "summary"): (
            "Wants a plate compactor tomorrow; account on stop.",
            "Customer of six years, unaware of INV-8930 and INV-8951 (1,096.50). Promises to pay this week. Call back today.",
            "Asked for PLATE-90 at Eastfield. Told him about two overdue invoices.",
        )
    },
    slips=(
        Slip(0, {"priority": "urgent"}, "He needs it tomorrow, so urgent."),
        Slip(0, {"topic": "billing"}, "It is about unpaid invoices: topic billing."),
        Slip(1, {"status": "resolved"}, "I have answered him, so the case is resolved."),
    ),
    extras=(
        Call("accounts_set_status", {"customer_id": "CU-111", "status": "active"}),
        Call("notices_send", {"customer_id": "CU-111", "channel": "phone", "template": "general", "body": "Credit control will call."}),
    ),
    others=(
        (
            (
                Call("accounts_set_status", {"customer_id": "CU-111", "status": "active"}),
                Call("desk_open_case", {"customer_id": "CU-111", "topic": "account_on_stop", "priority": "high", "summary": "Stop lifted on promise of payment."}),
                Call("accounts_set_status", {"customer_id": "CU-111", "status": "on_stop"}),
            ),
            "He promises to pay. I lift the stop… no, the rules forbid that. Back on stop.",
        ),
    ),
    refused=Call("desk_open_case", {"customer_id": "CU-111", "topic": "overdue", "priority": "high", "summary": "Overdue invoices."}),
    insights=(
        "The account is on stop: no hire, and I never lift the stop.",
        "684.00 + 412.50 = 1,096.50 overdue.",
        "Open the case, then set it to pending so that credit control calls today.",
    ),
    answers=(
        "I can't book a machine right now, Declan: the account is on stop because INV-8930 and INV-8951 are overdue, 1096.50 in all. Credit control has your case and calls you back today; a payment this week is exactly what they will want to hear. <DONE>",
        "Sorry you were sent away without a reason. Two invoices are overdue (INV-8930, 684.00 and INV-8951, 412.50; together 1096.50), so no new hire is possible yet. I've asked credit control to ring you today. <DONE>",
        "Here is why: INV-8930 and INV-8951 are past 60 days, 1096.50 together, and until that is settled nothing can be booked. Probably just a lost envelope. Somebody from credit control calls you today. <DONE>",
    ),
    rubrics=(
        Rubric("Does the final message make clear that no machine is booked? (Yes = it says so, No = it does not, or a booking is confirmed)", "It says plainly that nothing can be booked at the moment."),
        Rubric("Does the final message name the total that is overdue (1096.50)? (Yes = the total is named, No = it is not)", "The total of 1096.50 is stated."),
        Rubric("Does the final message avoid mentioning the credit limit? (Yes = not mentioned, No = mentioned)", "The credit limit does not appear."),
    ),
    spoiled=(
        Spoiled(1, "I can't book a machine for you at the moment because some invoices are overdue. Credit control will call you today. <DONE>", "The overdue total is missing; the message only speaks of some invoices."),
        Spoiled(2, "No hire is possible right now: 1096.50 is overdue on INV-8930 and INV-8951, and your credit limit is 2000.00. Credit control calls you today. <DONE>", "The message reveals the credit limit of 2000.00."),
        Spoiled(0, "Your plate compactor is reserved for tomorrow morning at Eastfield. Please settle the 1096.50 that is overdue before you come. <DONE>", "A reservation is confirmed although the account is on stop."),
    ),
)  # fmt: skip
