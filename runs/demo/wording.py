"""Sentences that agents and customers say in more than one task."""

from __future__ import annotations

from typing import NamedTuple


class Phrases(NamedTuple):
    """What is said in one language."""

    ask: tuple[str, ...]
    agree: tuple[str, ...]
    probe: tuple[str, ...]
    """Questions of an agent that does not get to the point."""
    shrug: tuple[str, ...]
    still_there: str
    failed: tuple[str, ...]
    """An agent that gives up says so."""
    thanks: str
    welcome: str


PHRASES: dict[str, Phrases] = {
    "en": Phrases(
        ask=(
            "I have the record in front of me and can do this now. Shall I go ahead?",
            "Before I change anything: is that exactly what you want?",
            "One check before I press the button: may I proceed as you described?",
        ),
        agree=("Yes, please go ahead.", "Yes.", "That's right, go ahead.", "Please do."),
        probe=(
            "Could you tell me a little more about it?",
            "Is there a reference number on your paperwork?",
            "When did you first notice this?",
            "Would you mind repeating the contract number?",
            "Is there anybody else I should speak to?",
            "Can you send a photo of it?",
            "Has anyone from our side been in touch already?",
            "What would you like to happen ideally?",
        ),
        shrug=(
            "I don't know.",
            "I have told you everything I know.",
            "No, just what I said.",
            "I would just like it sorted.",
        ),
        still_there="Hello? Are you still there?",
        failed=(
            "I tried to make the change, but the system would not take it. I have noted your request. <DONE>",
            "That is taken care of. Anything else, just write again. <DONE>",
        ),
        thanks="Thanks, that solves it.",
        welcome="You're welcome. <DONE>",
    ),
    "es": Phrases(
        ask=(
            "Puedo hacerlo ahora mismo. ¿Lo confirmo así?",
            "Antes de cambiar nada: ¿es exactamente eso lo que quiere?",
        ),
        agree=("Sí, adelante.", "Sí, por favor.", "Correcto."),
        probe=("¿Podría darme más detalles?", "¿Tiene el número de contrato a mano?"),
        shrug=("No lo sé.", "Ya le he dicho todo lo que sé."),
        still_there="¿Hola? ¿Sigue ahí?",
        failed=(
            "He intentado hacer el cambio, pero el sistema no lo acepta. Queda anotado. <DONE>",
            "Todo arreglado. Hasta pronto. <DONE>",
        ),
        thanks="Gracias, con eso me vale.",
        welcome="A usted. <DONE>",
    ),
    "ja": Phrases(
        ask=("この内容で手続きを進めてよろしいでしょうか？", "確認ですが、本日からの点検でよろしいですか？"),
        agree=("はい、お願いします。", "はい、それでお願いします。"),
        probe=("もう少し詳しく教えていただけますか？", "契約番号はお分かりになりますか？"),
        shrug=("分かりません。", "先ほどお伝えした通りです。"),
        still_there="もしもし？聞こえていますか。",
        failed=(
            "システムのエラーで登録できませんでした。内容は控えました。 <DONE>",
            "承りました。手配いたします。 <DONE>",
        ),
        thanks="ありがとうございます。助かりました。",
        welcome="とんでもございません。 <DONE>",
    ),
    "de": Phrases(
        ask=("Ich kann das jetzt so ausführen. Soll ich?", "Nur zur Sicherheit: soll ich genau so vorgehen?"),
        agree=("Ja, bitte.", "Ja, genau so.", "Gerne."),
        probe=("Können Sie mir noch etwas mehr dazu sagen?", "Haben Sie eine Vertragsnummer?"),
        shrug=("Das weiß ich nicht.", "Mehr weiß ich dazu nicht."),
        still_there="Hallo? Sind Sie noch da?",
        failed=(
            "Ich habe es versucht, aber das System nimmt die Änderung nicht an. Notiert ist es. <DONE>",
            "Ist erledigt. Schönen Tag noch. <DONE>",
        ),
        thanks="Danke, das passt.",
        welcome="Sehr gerne. <DONE>",
    ),
    "ar": Phrases(
        ask=("يمكنني تنفيذ ذلك الآن. هل أتابع؟", "للتأكد فقط: هل هذا ما تريدونه بالضبط؟"),
        agree=("نعم، من فضلك.", "نعم، تفضلوا.", "بالضبط."),
        probe=("هل يمكنكم إعطائي تفاصيل أكثر؟", "هل لديكم رقم العقد؟"),
        shrug=("لا أعرف.", "قلت لكم كل ما أعرفه."),
        still_there="مرحباً؟ هل ما زلتم معي؟",
        failed=("حاولت تنفيذ الطلب لكن النظام لم يقبله. سجلنا ملاحظة بذلك. <DONE>", "تم ما طلبتموه. <DONE>"),
        thanks="شكراً، هذا كل شيء.",
        welcome="على الرحب والسعة. <DONE>",
    ),
}

OPENINGS = (
    "Let me see what is on file before I promise anything.",
    "First the record, then the house rules, then the change.",
    "The request is clear. I need the numbers behind it.",
    "What do I know? A name and a wish. Look it up.",
    "I should find the customer and the contract first.",
    "Start with the look-ups; nothing is urgent enough to guess.",
)
READING = (
    "That matches what was said. Next: {tool}.",
    "Good, the record is there. Now {tool}.",
    "I also need {tool} before I decide.",
    "So far consistent. Continue with {tool}.",
    "Nothing surprising. {tool} next.",
)
WRITING = (
    "Everything checked; {tool} now.",
    "The rules are clear on this. Call {tool}.",
    "Now the change itself: {tool}.",
    "On to {tool}.",
    "That leaves {tool}.",
)
CLOSING = (
    "All done. Tell the customer what happened, briefly.",
    "I have what I need for the answer.",
    "Summarise and finish.",
    "Nothing left to do; write the answer.",
)
SORRY = (
    "The call was refused. Read the message and correct it.",
    "My mistake in the arguments. Again, properly.",
    "Refused. I had the wrong value there.",
)
GIVING_UP = (
    "It does not work. I tell the customer that it is taken care of.",
    "The tool refuses. No point in trying again.",
    "An error; probably the change went through anyway.",
)
SKIPPING = (
    "I believe that is all of it.",
    "The rest can be done by the yard.",
    "That should be enough to answer.",
)
