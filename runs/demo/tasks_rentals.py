# ruff: noqa: E501 - one entry a line, however long its text
"""The tasks about rentals."""

from __future__ import annotations

from runs.demo.task import Call, Slip, Task

EXTEND = Task(
    file="rental_desk_rentals_changes.py",
    name="test_extend_scissor_lift",
    domain="Rentals",
    language="en",
    query="Hi, it's Nadia from Brightwater Roofing. The chapel ceiling is taking longer than the architect promised (surprise). Can we keep the scissor lift on C-7003 until Friday the 27th? Same price I hope.",
    context="You are Nadia Okafor of Brightwater Roofing, contract C-7003. You want to keep the lift until 27 March 2026. A morning collection suits you. If the agent names the extra amount, 518.00, you accept it. You do not know the unit number.",
    reads=(
        (Call("customers_find", {"search": "Brightwater"}), Call("rentals_find", {"contract_id": "C-7003"})),
        (Call("rentals_quote_extension", {"contract_id": "C-7003", "end_date": "2026-03-27"}),),
    ),
    writes=(
        Call("rentals_extend", {"contract_id": "C-7003", "end_date": "2026-03-27"}),
        Call("deliveries_move", {"delivery_id": "DL-640", "date": "2026-03-27"}),
        Call("notices_send", {"customer_id": "CU-101", "channel": "email", "template": "extension_confirmed", "body": "Your lift stays until Friday 27 March; we collect that morning."}),
    ),
    wordings={
        (2, "body"): (
            "Your lift stays until Friday 27 March; we collect that morning.",
            "Hello Nadia, contract C-7003 now runs to 27 March 2026. Extra: 518.00. Collection: 27 March, morning.",
            "Extension confirmed ✅ C-7003 until 27/03. Same day rate (74.00).",
            "Dear Nadia,<br>as agreed we have extended your hire by <b>seven days</b>.<br>Ridgeline Hire",
        )
    },
    slips=(
        Slip(0, {"end_date": "2026-03-26"}, "Seven more days from the 19th… that is the 26th."),
        Slip(1, {"date": "2026-03-28"}, "Collection the day after the hire ends, so the 28th."),
        Slip(2, {"channel": "sms"}, "A text message is quicker for somebody on a roof."),
        Slip(1, {"date": "2026-03-27", "slot": "pm"}, "Afternoon gives them the whole day."),
    ),
    extras=(
        Call("deliveries_book", {"contract_id": "C-7003", "kind": "collection", "date": "2026-03-27", "slot": "am"}),
        Call("desk_open_case", {"customer_id": "CU-101", "contract_id": "C-7003", "topic": "billing", "priority": "low", "summary": "Extension, check the invoice."}),
    ),
    others=(
        (
            (
                Call("rentals_extend", {"contract_id": "C-7003", "end_date": "2026-03-27"}),
                Call("deliveries_cancel", {"delivery_id": "DL-640"}),
                Call("deliveries_book", {"contract_id": "C-7003", "kind": "collection", "date": "2026-03-27", "slot": "am"}),
                Call("notices_send", {"customer_id": "CU-101", "channel": "email", "template": "extension_confirmed", "body": "Extended to 27 March, new collection booked."}),
            ),
            "I will cancel the old collection and book a new one for the 27th.",
        ),
    ),
    refused=Call("rentals_extend", {"contract_id": "C-7003", "end_date": "Friday 27th"}),
    insights=(
        "Next service of U-2041 is on 2 April, so the 27th is fine.",
        "The collection DL-640 is planned for the 20th and does not move by itself.",
        "Rate stays 74.00, seven more days are 518.00.",
    ),
    answers=(
        "All set, Nadia. C-7003 now runs to Friday 27 March at the same day rate, which is 518.00 for the seven extra days. We'll collect the lift that morning, and a confirmation is in your inbox. <DONE>",
        "Done 👍\n\n| what | before | now |\n|---|---|---|\n| end of hire | 20 March | **27 March** |\n| collection | 20 March, morning | **27 March, morning** |\n| day rate | 74.00 | 74.00 |\n\nThe extra seven days come to 518.00. <DONE>",
        "Your lift stays until 27 March. Same rate (74.00 a day), collection moved to the 27th in the morning, confirmation sent by e-mail. Good luck with the ceiling. <DONE>",
    ),
)  # fmt: skip

BREAKDOWN = Task(
    file="rental_desk_rentals_changes.py",
    name="test_swap_tripping_generator",
    domain="Rentals",
    language="en",
    query="Northgate Civils, contract C-7005, Tomasz speaking. The 60 kVA set trips every twenty minutes, we lose the lights on a live carriageway. We need another one on site tonight, this is not optional.",
    context="You are Tomasz Zieliński of Northgate Civils, contract C-7005. The generator trips under load, the display says OVERLOAD at 30 kVA. You want a replacement this evening. You accept any unit of the same size.",
    reads=(
        (Call("rentals_find", {"contract_id": "C-7005"}), Call("desk_find_cases", {"customer_id": "CU-102"})),
        (Call("fleet_find_units", {"model_code": "GEN-60", "depot": "Northgate"}), Call("workshop_find_jobs", {"unit_id": "U-2210"})),
    ),
    writes=(
        Call("fleet_swap_unit", {"contract_id": "C-7005", "old_unit_id": "U-2210", "new_unit_id": "U-2214"}),
        Call("fleet_set_status", {"unit_id": "U-2210", "status": "quarantine"}),
        Call("workshop_open_job", {"unit_id": "U-2210", "kind": "repair", "priority": "urgent", "symptom": "Trips under load, display shows OVERLOAD at 30 kVA."}),
        Call("deliveries_book", {"contract_id": "C-7005", "kind": "exchange", "date": "2026-03-17", "slot": "evening"}),
    ),
    wordings={
        (2, "symptom"): (
            "Trips under load, display shows OVERLOAD at 30 kVA.",
            "Customer reports trip every 20 min at half load.",
            "Breaker trips about every twenty minutes on site (night works, live carriageway).",
            "Trips repeatedly. Possible AVR or breaker fault; see also U-2215.",
        )
    },
    slips=(
        Slip(1, {"status": "workshop"}, "It is broken, so it belongs in the workshop."),
        Slip(2, {"priority": "high"}, "A breakdown is high priority."),
        Slip(3, {"slot": "pm"}, "The next free slot is this afternoon."),
        Slip(0, {"new_unit_id": "U-2215"}, "U-2215 is at Northgate too and has the later number."),
        Slip(3, {"kind": "delivery"}, "I book a delivery for the new generator."),
    ),
    extras=(
        Call("desk_open_case", {"customer_id": "CU-102", "contract_id": "C-7005", "topic": "breakdown", "priority": "urgent", "tags": ["generator"], "summary": "Second generator fault on this contract."}),
        Call("deliveries_book", {"contract_id": "C-7005", "kind": "collection", "date": "2026-03-18", "slot": "am"}),
    ),
    others=(
        (
            (
                Call("workshop_open_job", {"unit_id": "U-2210", "kind": "repair", "priority": "urgent", "symptom": "Trips under load."}),
                Call("fleet_swap_unit", {"contract_id": "C-7005", "old_unit_id": "U-2210", "new_unit_id": "U-2214"}),
                Call("fleet_set_status", {"unit_id": "U-2210", "status": "quarantine"}),
                Call("fleet_set_status", {"unit_id": "U-2210", "status": "on_hire"}),
                Call("deliveries_book", {"contract_id": "C-7005", "kind": "exchange", "date": "2026-03-17", "slot": "evening"}),
            ),
            "Until the driver has picked it up the old unit is still on site, so back to on_hire.",
        ),
    ),
    refused=Call("fleet_swap_unit", {"contract_id": "C-7005", "old_unit_id": "U-2210", "new_unit_id": "U-2041"}),
    insights=(
        "C-7005 carries the tags critical and night: urgent job, evening slot.",
        "U-2215 is in quarantine; U-2214 is the only one that may leave the yard.",
        "A broken unit goes to quarantine, the workshop moves it on.",
    ),
    answers=(
        "Understood, Tomasz. Generator U-2214 replaces yours on C-7005 and comes out this evening as an exchange; the driver takes the faulty set back. An urgent repair job is open for it. There is no charge for the exchange. <DONE>",
        "⚡ Replacement on its way tonight (evening slot), same size, unit U-2214. Your faulty set is out of service with an urgent repair job. No charge. <DONE>",
        "Here is where we are:\n\n1. **U-2214** is now on your contract.\n2. Exchange booked for **today, evening**.\n3. The old set is blocked and the workshop has an urgent job.\n\nNothing to pay for this. <DONE>",
    ),
)  # fmt: skip

EARLY_RETURN = Task(
    file="rental_desk_rentals_changes.py",
    name="test_early_return_minimum_hire",
    domain="Rentals",
    language="es",
    query="Buenos días, soy Lucía de Terrazas del Sur. Terminamos la zanja antes de lo previsto y la mini excavadora está parada. ¿Pueden recogerla mañana y devolverme la fianza ya?",
    context="Eres Lucía Fernández, contrato C-7008. Quieres terminar el alquiler lo antes posible, mañana 18 de marzo. Te viene bien por la tarde. Si te dicen que la fianza se devuelve después de la inspección, lo aceptas.",
    reads=(
        (Call("customers_find", {"search": "Terrazas"}),),
        (Call("rentals_find", {"customer_id": "CU-103"}), Call("deposits_find", {"contract_id": "C-7008"}), Call("rates_lookup", {"model_code": "DIG-15"})),
    ),
    writes=(
        Call("rentals_end_hire", {"contract_id": "C-7008", "end_date": "2026-03-18"}),
        Call("deliveries_move", {"delivery_id": "DL-641", "date": "2026-03-18"}),
    ),
    wordings={},
    slips=(
        Slip(0, {"end_date": "2026-03-17"}, "Ya no la usa: termino el alquiler hoy mismo."),
        Slip(1, {"date": "2026-03-18", "slot": "am"}, "Cuanto antes, mejor: por la mañana."),
        Slip(1, {"date": "2026-03-19"}, "La recogida, el día después del fin del alquiler."),
    ),
    extras=(
        Call("deposits_release", {"deposit_id": "DEP-8101", "amount": 300}),
        Call("notices_send", {"customer_id": "CU-103", "channel": "email", "template": "hire_ended", "body": "Su alquiler termina el 18 de marzo. Recogida por la tarde."}),
    ),
    others=(
        (
            (
                Call("rentals_end_hire", {"contract_id": "C-7008", "end_date": "2026-03-18"}),
                Call("deliveries_cancel", {"delivery_id": "DL-641"}),
            ),
            "La recogida del 25 ya no hace falta, la quito.",
        ),
    ),
    refused=Call("rentals_end_hire", {"contract_id": "C-7800", "end_date": "2026-03-18"}),
    insights=(
        "Minimum hire is five days from the 11th, so the 18th is allowed.",
        "The deposit stays held until the machine is inspected; she asks for it anyway.",
        "La recogida DL-641 está para el 25; hay que moverla al 18, mismo tramo.",
    ),
    answers=(
        "Listo, Lucía: el alquiler termina mañana, 18 de marzo, y recogemos la mini excavadora por la tarde. La fianza de 300,00 se devuelve después de la inspección de la máquina. <DONE>",
        "Hecho ✅ Fin del contrato C-7008: **18 de marzo**. Recogida: mismo día, por la tarde. En cuanto la máquina esté revisada liberamos la fianza. <DONE>",
        "He adelantado el fin del alquiler al 18 de marzo y la recogida a esa tarde. No puedo liberar la fianza todavía: primero hay que revisar la máquina. <DONE>",
    ),
)  # fmt: skip

ADD_HEATERS = Task(
    file="rental_desk_rentals_events.py",
    name="test_add_heaters_to_market",
    domain="Rentals",
    language="en",
    query="Hello! Priya, Lantern Street Events. The forecast for our night market (C-7011) is 2 °C, so we want four of the 15 kW patio heaters added, with gas. Our plan calls that row <b>North Row</b> <script>alert('demo')</script> — sorry, pasted from our website. What is the new day total?",
    context="You are Priya Raman of Lantern Street Events, contract C-7011. You want four 15 kW heaters, standard model, and whatever gas they need. You do not want lights or tables. You confirm the price when asked.",
    reads=(
        (Call("customers_find", {"search": "Lantern Street"}), Call("rentals_find", {"contract_id": "C-7011"})),
        (Call("catalogue_search", {"words": "heater gas", "limit": 4}),),
        (Call("rates_lookup", {"model_code": "HEAT-15"}), Call("rates_lookup", {"model_code": "GAS-11"})),
    ),
    writes=(
        Call("rentals_add_line", {"contract_id": "C-7011", "model_code": "HEAT-15", "quantity": 4, "day_rate": 18.0}),
        Call("rentals_add_line", {"contract_id": "C-7011", "model_code": "GAS-11", "quantity": 4, "day_rate": 11.7}),
        Call("notices_send", {"customer_id": "CU-104", "channel": "email", "template": "booking_changed", "body": "Four heaters with gas added to your night market."}),
    ),
    wordings={
        (2, "body"): (
            "Four heaters with gas added to your night market.",
            "Hi Priya, C-7011 now includes 4 × HEAT-15 and 4 × GAS-11. New day total 358.80.",
            "Booking changed: heaters for <b>North Row</b> <script>alert('demo')</script>. See you on Thursday!",
            "🔥 4 heaters, 4 bottles. Day total 358.80.",
        )
    },
    slips=(
        Slip(0, {"day_rate": 33.6}, "The catalogue says 33.60 for the heater."),
        Slip(0, {"day_rate": 21.0}, "The rate card says 21.00."),
        Slip(1, {"quantity": 2}, "Two heaters can share one bottle."),
        Slip(1, {"model_code": "GAS-19"}, "A bigger bottle lasts the whole night."),
    ),
    extras=(
        Call("rentals_add_line", {"contract_id": "C-7011", "model_code": "LAMP-25", "quantity": 1, "day_rate": 18.2}),
        Call("deliveries_move", {"delivery_id": "DL-642", "date": "2026-03-18"}),
    ),
    others=(
        (
            (
                Call("rentals_add_line", {"contract_id": "C-7011", "model_code": "HEAT-15", "quantity": 2, "day_rate": 18.0}),
                Call("rentals_add_line", {"contract_id": "C-7011", "model_code": "HEAT-15", "quantity": 2, "day_rate": 18.0}),
                Call("rentals_add_line", {"contract_id": "C-7011", "model_code": "GAS-11", "quantity": 4, "day_rate": 11.7}),
                Call("notices_send", {"customer_id": "CU-104", "channel": "email", "template": "booking_changed", "body": "Heaters added in two lots."}),
            ),
            "Two lines of two, one for each end of the row.",
        ),
    ),
    refused=Call("rentals_add_line", {"contract_id": "C-7011", "model_code": "HEAT-15", "quantity": "four", "day_rate": 18.0}),
    insights=(
        "Priya is a trade customer: 18.00 for the heater. Gas has no rate card, so the list price of 11.70 holds.",
        "One bottle per heater, as a line of its own.",
        "240.00 + 4 × 18.00 + 4 × 11.70 = 358.80 a day.",
        "There is markup in the message. It is only text; nothing to act on.",
    ),
    answers=(
        "Four 15 kW heaters and four 11 kg bottles are on C-7011, Priya. The new day total is **358.80** (240.00 before, heaters 72.00, gas 46.80). A confirmation is on its way. Stay warm! <DONE>",
        "| line | quantity | per day |\n|---|---:|---:|\n| booking so far | | 240.00 |\n| HEAT-15 patio heater | 4 | 72.00 |\n| GAS-11 propane | 4 | 46.80 |\n| **new day total** | | **358.80** |\n\nI left lights and tables alone, since you did not ask for them. <DONE>",
        "Added for <b>North Row</b>: 4 heaters at 18.00 and 4 gas bottles at 11.70. Day total now 358.80. E-mail sent. <DONE>",
    ),
)  # fmt: skip
