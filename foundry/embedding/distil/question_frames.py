"""Questions around a phrase, so that a query encoder learns how little "what is" says."""

# ruff: noqa: RUF001 (letters that look like Latin ones are meant)

import re
from collections.abc import Mapping, Sequence

FRAMES: Mapping[str, Sequence[str]] = {
    "english": (
        "What is {}?",
        "what does {} mean",
        "How does {} work?",
        "how to use {}",
        "how do I {}",
        "Why is {} important?",
        "When should {} be used?",
        "Which {} are there?",
        "where can I find {}",
        "Who is responsible for {}?",
        "What are the effects of {}?",
        "What happens if {}?",
        "Can you explain {}?",
        "Is there any information about {}?",
        "What has been said about {}?",
        "how much {} is needed",
        "Does {} depend on anything?",
        "tell me about {}",
    ),
    "german": (
        "Was ist {}?",
        "Was bedeutet {}?",
        "Wie funktioniert {}?",
        "Wann wird {} verwendet?",
        "Warum ist {} wichtig?",
        "Welche {} gibt es?",
        "Wo finde ich {}?",
        "Wer ist für {} zuständig?",
        "Wie viel {} ist nötig?",
        "Informationen über {}",
    ),
    "french": (
        "Qu'est-ce que {} ?",
        "Que signifie {} ?",
        "Comment fonctionne {} ?",
        "Quand faut-il utiliser {} ?",
        "Pourquoi {} est-il important ?",
        "Quels sont les {} ?",
        "Où trouver {} ?",
        "Qui est responsable de {} ?",
        "Combien de {} faut-il ?",
        "informations sur {}",
    ),
    "spanish": (
        "¿Qué es {}?",
        "¿Qué significa {}?",
        "¿Cómo funciona {}?",
        "¿Cuándo se usa {}?",
        "¿Por qué es importante {}?",
        "¿Cuáles son {}?",
        "¿Dónde se encuentra {}?",
        "¿Quién es responsable de {}?",
        "¿Cuánto {} se necesita?",
        "información sobre {}",
    ),
    "italian": (
        "Che cos'è {}?",
        "Cosa significa {}?",
        "Come funziona {}?",
        "Quando si usa {}?",
        "Perché {} è importante?",
        "Quali sono {}?",
        "Dove si trova {}?",
        "Chi è responsabile di {}?",
        "informazioni su {}",
    ),
    "portuguese": (
        "O que é {}?",
        "O que significa {}?",
        "Como funciona {}?",
        "Quando se usa {}?",
        "Por que {} é importante?",
        "Quais são {}?",
        "Onde encontrar {}?",
        "Quem é responsável por {}?",
        "informações sobre {}",
    ),
    "dutch": (
        "Wat is {}?",
        "Wat betekent {}?",
        "Hoe werkt {}?",
        "Wanneer wordt {} gebruikt?",
        "Waarom is {} belangrijk?",
        "Welke {} zijn er?",
        "Waar vind ik {}?",
        "Wie is verantwoordelijk voor {}?",
        "informatie over {}",
    ),
    "russian": (
        "Что такое {}?",
        "Что означает {}?",
        "Как работает {}?",
        "Когда используется {}?",
        "Почему важно {}?",
        "Какие бывают {}?",
        "Где найти {}?",
        "Кто отвечает за {}?",
        "Сколько {} нужно?",
        "информация о {}",
    ),
    "chinese": (
        "什么是{}？",
        "{}是什么意思",
        "{}如何工作？",
        "如何使用{}",
        "为什么{}很重要？",
        "有哪些{}？",
        "在哪里可以找到{}？",
        "谁负责{}？",
        "什么时候{}？",
        "关于{}的信息",
    ),
    "japanese": (
        "{}とは何ですか？",
        "{}の意味",
        "{}はどのように機能しますか？",
        "{}の使い方",
        "なぜ{}が重要ですか？",
        "{}はどこにありますか？",
        "{}はいつ使いますか？",
        "{}について教えてください",
    ),
    "arabic": (
        "ما هو {}؟",
        "ماذا يعني {}؟",
        "كيف يعمل {}؟",
        "متى يستخدم {}؟",
        "لماذا {} مهم؟",
        "ما هي {}؟",
        "أين أجد {}؟",
        "من المسؤول عن {}؟",
        "معلومات عن {}",
    ),
    "hindi": (
        "{} क्या है?",
        "{} का क्या अर्थ है?",
        "{} कैसे काम करता है?",
        "{} का उपयोग कब किया जाता है?",
        "{} क्यों महत्वपूर्ण है?",
        "{} कहाँ मिलेगा?",
        "{} कितने हैं?",
        "{} के बारे में जानकारी",
    ),
}

_SCRIPTS = (
    (re.compile("[\u3040-\u30ff]"), "japanese"),
    (re.compile("[\u4e00-\u9fff]"), "chinese"),
    (re.compile("[\u0400-\u04ff]"), "russian"),
    (re.compile("[\u0600-\u06ff]"), "arabic"),
    (re.compile("[\u0900-\u097f]"), "hindi"),
)


def frame_question(phrase: str, language: str, number: int) -> str:
    """Return a question around a phrase, chosen by a number.

    A script that gives a language away decides over `language` (as in foundry.toml); a language
    without frames of its own is asked in English.
    """
    written = next((name for script, name in _SCRIPTS if script.search(phrase)), language)
    frames = FRAMES.get(written, FRAMES["english"])
    return frames[number % len(frames)].replace("{}", phrase)
