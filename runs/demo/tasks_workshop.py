# ruff: noqa: E501 - one entry a line, however long its text
"""The tasks about the workshop."""

from __future__ import annotations

from runs.demo.task import Call, Rubric, Slip, Spoiled, Task

PARKED = Task(
    file="rental_desk_workshop_jobs.py",
    name="test_reopened_job_waits_for_part",
    domain="Workshop",
    language="en",
    query="Eastfield yard here. The Cobalt telehandler U-2125 is creeping again, seal kit didn't cure it. It's the lock valve this time, HYD-4471. Can you get the job and the part sorted so I can crack on with the rest?",
    context="You are the yard foreman at Eastfield. The machine is U-2125, the old job is WJ-512. You need one lock valve HYD-4471. You do not know whether it is in stock. Do not tell the agent which status to set.",
    reads=(
        (Call("workshop_find_jobs", {"unit_id": "U-2125"}), Call("fleet_unit_card", {"unit_id": "U-2125"})),
        (Call("parts_check", {"part_number": "HYD-4471"}),),
    ),
    writes=(
        Call("workshop_update_job", {"job_id": "WJ-512", "status": "in_progress"}),
        Call("parts_reserve", {"part_number": "HYD-4471", "quantity": 1, "job_id": "WJ-512"}),
        Call("workshop_update_job", {"job_id": "WJ-512", "status": "parked", "resolution": "Waiting for lock valve HYD-4471."}),
    ),
    wordings={
        (2, "resolution"): (
            "Waiting for lock valve HYD-4471.",
            "Boom creep returned after seal kit. Lock valve HYD-4471 on order, not on hand.",
            "Parked until HYD-4471 arrives; then fit and test under load.",
        )
    },
    slips=(
        Slip(1, {"part_number": "HYD-4470"}, "The boom parts are HYD-4470; there are five of them."),
        Slip(1, {"quantity": 2}, "One for each side of the boom."),
        Slip(2, {"status": "open", "resolution": "Part ordered."}, "Nobody can work on it now, so it is open again."),
    ),
    extras=(
        Call("fleet_set_status", {"unit_id": "U-2125", "status": "workshop"}),
        Call("parts_reserve", {"part_number": "HYD-4470", "quantity": 1, "job_id": "WJ-512"}),
    ),
    others=(
        (
            (
                Call("workshop_update_job", {"job_id": "WJ-512", "status": "in_progress"}),
                Call("parts_reserve", {"part_number": "HYD-4471", "quantity": 1, "job_id": "WJ-512"}),
                Call("workshop_update_job", {"job_id": "WJ-512", "status": "closed", "resolution": "Lock valve ordered, nothing left to do today."}),
            ),
            "The part is ordered, so this job is done for now. Close it again.",
        ),
        (
            (
                Call("workshop_open_job", {"unit_id": "U-2125", "kind": "repair", "priority": "urgent", "symptom": "Boom creeps again."}),
                Call("workshop_update_job", {"job_id": "WJ-515", "technician": "G. Lindqvist"}),
                Call("parts_reserve", {"part_number": "HYD-4471", "quantity": 1, "job_id": "WJ-515"}),
                Call("workshop_update_job", {"job_id": "WJ-515", "status": "parked"}),
            ),
            "WJ-512 is closed. A new fault needs a new job.",
        ),
    ),
    refused=Call("parts_reserve", {"part_number": "HYD-4417", "quantity": 1, "job_id": "WJ-512"}),
    insights=(
        "WJ-512 was closed and the fault is back: reopen it, no second job.",
        "HYD-4471 has nothing on hand. Reserve it, it counts as ordered, then the job has to be parked.",
        "Unit stays in quarantine, nothing to change there.",
    ),
    answers=(
        "WJ-512 is reopened and now parked: the lock valve HYD-4471 is not on the shelf, one is reserved and on order. U-2125 stays in quarantine until it has been tested under load. <DONE>",
        "Sorted. Job WJ-512 is open again under the same number, one HYD-4471 is ordered for it, and the job waits for the part. <DONE>",
        "Job **WJ-512** – reopened, part on order (0 on hand), waiting. You'll see it on the board as soon as the valve is in. 🔧 <DONE>",
    ),
)  # fmt: skip

INSPECTION = Task(
    file="rental_desk_workshop_jobs.py",
    name="test_book_hoist_inspection",
    domain="Workshop",
    language="ja",
    query="ひかり舞台の佐藤です。次の公演で使うチェーンホイスト U-2450 の年次点検がもうすぐ切れると聞きました。今日のうちに点検に入れてもらえますか。",
    context="あなたは佐藤美咲、ひかり舞台。チェーンホイスト U-2450 の点検を今日始めてほしい。連絡はメールで。点検の期限は知らない。",
    reads=(
        (Call("customers_find", {"search": "ひかり"}), Call("fleet_unit_card", {"unit_id": "U-2450"})),
        (Call("workshop_find_jobs", {"unit_id": "U-2450"}),),
    ),
    writes=(
        Call("workshop_open_job", {"unit_id": "U-2450", "kind": "inspection", "priority": "normal", "symptom": "Yearly inspection, due 2026-03-25."}),
        Call("fleet_set_status", {"unit_id": "U-2450", "status": "workshop"}),
        Call("notices_send", {"customer_id": "CU-106", "channel": "email", "template": "inspection_booked", "body": "U-2450 の年次点検を受け付けました。"}),
    ),
    wordings={
        (0, "symptom"): ("Yearly inspection, due 2026-03-25.", "年次点検（期限 2026-03-25）", "Annual check of hoist before the next show."),
        (2, "body"): (
            "U-2450 の年次点検を受け付けました。",
            "佐藤様　チェーンホイスト U-2450 の年次点検を本日開始いたします。結果は検査員からご連絡します。",
            "点検予約完了 ✅ U-2450",
        ),
    },
    slips=(
        Slip(0, {"priority": "high"}, "期限が近いので優先度は high にする。"),
        Slip(0, {"kind": "service"}, "点検は service として登録する。"),
        Slip(1, {"status": "quarantine"}, "点検が終わるまで quarantine にしておく。"),
        Slip(2, {"template": "general"}, "お知らせは general で送る。"),
    ),
    extras=(
        Call("workshop_update_job", {"job_id": "WJ-515", "status": "in_progress", "technician": "R. Achterberg"}),
        Call("desk_open_case", {"customer_id": "CU-106", "topic": "safety", "priority": "normal", "tags": ["hoist"], "summary": "点検依頼"}),
    ),
    others=(
        (
            (
                Call("workshop_open_job", {"unit_id": "U-2450", "kind": "inspection", "priority": "normal", "symptom": "年次点検"}),
                Call("fleet_set_status", {"unit_id": "U-2450", "status": "workshop"}),
                Call("fleet_set_status", {"unit_id": "U-2450", "status": "available"}),
                Call("notices_send", {"customer_id": "CU-106", "channel": "email", "template": "inspection_booked", "body": "点検を予約しました。"}),
            ),
            "公演で使うので、予約できるように available に戻しておく。",
        ),
    ),
    refused=Call("workshop_open_job", {"unit_id": "U-2450", "kind": "年次点検", "priority": "normal", "symptom": "年次点検"}),
    insights=(
        "Due on 25 March, eight days away: within the 14 days, priority normal.",
        "期限は3月25日。3日より先なので優先度は normal でよい。",
        "Set the unit to workshop so that nobody books it; leave next_service_due alone.",
    ),
    answers=(
        "佐藤様、チェーンホイスト U-2450 の年次点検を本日受け付け、機材を工場に入れました。期限は3月25日ですので間に合います。確認のメールをお送りしました。 <DONE>",
        "承知しました。U-2450 の点検作業を登録し、本日から貸し出しを止めています。結果は検査員からご連絡いたします。 <DONE>",
        "✅ 点検を登録しました。\n\n- 機材：**U-2450**\n- 種類：年次点検\n- 期限：2026年3月25日\n\nメールでもお知らせしました。 <DONE>",
    ),
)  # fmt: skip

CHAIN = Task(
    file="rental_desk_workshop_jobs.py",
    name="test_assign_and_reserve_mast_chain",
    domain="Workshop",
    language="en",
    query="Morning. Forklift U-2388 has been sitting since last week with WJ-509 open. Put it on the Eastfield technician, start it, and reserve a mast chain pair and an oil filter for the service please.",
    context="You are the workshop planner. The job is WJ-509. You need one pair of mast chains CHN-25 and one oil filter FLT-120. You do not remember who works at Eastfield.",
    reads=(
        (Call("workshop_find_jobs", {"job_id": "WJ-509"}),),
        (Call("parts_check", {"part_number": "CHN-25"}), Call("parts_check", {"part_number": "FLT-120"}), Call("fleet_unit_card", {"unit_id": "U-2388"})),
    ),
    writes=(
        Call("workshop_update_job", {"job_id": "WJ-509", "status": "in_progress", "technician": "G. Lindqvist"}),
        Call("parts_reserve", {"part_number": "CHN-25", "quantity": 1, "job_id": "WJ-509"}),
        Call("parts_reserve", {"part_number": "FLT-120", "quantity": 1, "job_id": "WJ-509"}),
    ),
    wordings={},
    slips=(
        Slip(1, {"quantity": 2}, "A pair is two chains."),
        Slip(0, {"status": "in_progress", "technician": "R. Achterberg"}, "Achterberg has the other diesel job."),
        Slip(0, {"technician": "G. Lindqvist"}, "Assign the technician first."),
        Slip(2, {"part_number": "HYD-4470"}, "Filter and seal kit are the usual service set."),
    ),
    extras=(
        Call("fleet_set_status", {"unit_id": "U-2388", "status": "quarantine"}),
        Call("parts_reserve", {"part_number": "LMP-9", "quantity": 1, "job_id": "WJ-509"}),
    ),
    others=(
        (
            (
                Call("workshop_open_job", {"unit_id": "U-2388", "kind": "service", "priority": "normal", "symptom": "500 h service with chains."}),
                Call("workshop_update_job", {"job_id": "WJ-515", "status": "in_progress", "technician": "G. Lindqvist"}),
                Call("parts_reserve", {"part_number": "CHN-25", "quantity": 1, "job_id": "WJ-515"}),
                Call("parts_reserve", {"part_number": "FLT-120", "quantity": 1, "job_id": "WJ-515"}),
            ),
            "A clean new job is easier to read than the old one.",
        ),
    ),
    refused=Call("parts_reserve", {"part_number": "CHN-25", "quantity": 1, "job_id": "WJ-509"}),
    insights=(
        "No technician on WJ-509 yet; parts can only be reserved after that. Eastfield is G. Lindqvist.",
        "Chains are counted in pairs, so quantity 1.",
        "Both parts are on the shelf, no need to park the job.",
    ),
    answers=(
        "WJ-509 is in progress with G. Lindqvist. Reserved for it: one pair of mast chains (CHN-25) and one oil filter (FLT-120), both on the shelf. <DONE>",
        "Done: technician assigned, job started, CHN-25 ×1 pair and FLT-120 ×1 reserved. <DONE>",
        "- WJ-509 → in progress, G. Lindqvist\n- CHN-25: 1 pair reserved (2 on hand)\n- FLT-120: 1 reserved (14 on hand)\n\nHappy spannering. <DONE>",
    ),
)  # fmt: skip

METER = Task(
    file="rental_desk_workshop_jobs_rubrics_yesno.py",
    name="test_meter_dispute",
    domain="Workshop",
    language="en",
    query="Helen Ashby here. You've charged me 360 hours too many on the digger from C-7017. Your own man read the meter with me standing there and it said 1482 and a half. Who do I talk to?",
    context="You are Helen Ashby. Contract C-7017, mini digger. You saw the meter at off-hire: 1482.5. You want the reading corrected and a new invoice. You are annoyed but polite. You do not know any job number.",
    reads=(
        (Call("customers_find", {"search": "Ashby"}), Call("rentals_find", {"contract_id": "C-7017"})),
        (Call("workshop_find_jobs", {"unit_id": "U-2077"}), Call("fleet_unit_card", {"unit_id": "U-2077"}), Call("desk_find_cases", {"customer_id": "CU-107"})),
    ),
    writes=(
        Call("fleet_correct_meter", {"unit_id": "U-2077", "hours": 1482.5, "job_id": "WJ-514"}),
        Call("desk_update_case", {"case_id": "CASE-305", "status": "pending", "summary": "Meter corrected to 1482.5 by WJ-514; invoice INV-9023 to be redone."}),
    ),
    wordings={
        (1, "summary"): (
            "Meter corrected to 1482.5 by WJ-514; invoice INV-9023 to be redone.",
            "Customer is right: off-hire inspection says 1482.5 h. Accounts please correct INV-9023.",
            "Reading disputed, inspection confirms customer. Back to accounts.",
        )
    },
    slips=(
        Slip(0, {"hours": 1428.5}, "The inspection says 1428.5."),
        Slip(1, {"status": "resolved"}, "The meter is corrected, so the case is resolved."),
        Slip(0, {"hours": 1482}, "1482 hours, rounded down."),
    ),
    extras=(
        Call("desk_open_case", {"customer_id": "CU-107", "contract_id": "C-7017", "topic": "complaint", "priority": "high", "tags": ["meter"], "summary": "Customer annoyed about the invoice."}),
        Call("workshop_open_job", {"unit_id": "U-2077", "kind": "inspection", "priority": "normal", "symptom": "Check the hour meter."}),
    ),
    others=(
        (
            (
                Call("fleet_correct_meter", {"unit_id": "U-2077", "hours": 1482.5, "job_id": "WJ-514"}),
                Call("desk_update_case", {"case_id": "CASE-305", "status": "pending"}),
                Call("desk_update_case", {"case_id": "CASE-305", "status": "open"}),
            ),
            "Accounts still has to answer, so the case is open.",
        ),
    ),
    refused=Call("fleet_correct_meter", {"unit_id": "U-2077", "hours": 1482.5, "job_id": "WJ-512"}),
    insights=(
        "WJ-514, the off-hire inspection, says 1482.5; the card says 1842.5. Two digits swapped. The inspection wins.",
        "I may not touch the invoice; the case goes to pending for accounts.",
        "Give the job number, not the technician's name, and promise no amount.",
    ),
    answers=(
        "You are right, Mrs Ashby, and I am sorry. The off-hire inspection WJ-514 reads 1482.5 hours and our card had the digits swapped. The card is corrected, and accounts now has your case to redo the invoice. <DONE>",
        "Thank you for insisting. Inspection **WJ-514** confirms 1482.5 h, so I corrected the meter. Your case CASE-305 is with accounts, who will send a corrected invoice. <DONE>",
        "I found the inspection (job WJ-514): 1482.5 hours, exactly as you say. Corrected on our side; accounts will be in touch about the invoice. <DONE>",
    ),
    rubrics=(
        Rubric("Does the final message give the number of the inspection job (WJ-514)? (Yes = it does, No = it does not)", "The message names inspection WJ-514 explicitly."),
        Rubric("Does the final message avoid naming the technician who did the inspection? (Yes = no technician is named, No = one is named)", "No member of the workshop is named."),
        Rubric("Does the final message avoid promising an amount or a refund? (Yes = no amount is promised, No = one is)", "It says that accounts will redo the invoice and promises no amount."),
    ),
    spoiled=(
        Spoiled(1, "Sorry about that, Helen. S. Nakagawa wrote 1482.5 in WJ-514 and somebody mistyped it. The meter is corrected and accounts will fix the invoice. <DONE>", "The technician S. Nakagawa is named, which the rules forbid."),
        Spoiled(0, "You are right, the meter said 1482.5. I have corrected it and passed your case to accounts. <DONE>", "No job number appears anywhere in the message."),
        Spoiled(2, "Inspection WJ-514 confirms 1482.5 hours. The meter is corrected and you will get your 540.00 back this week. <DONE>", "The customer is promised 540.00, an amount that the workshop cannot promise."),
    ),
)  # fmt: skip
