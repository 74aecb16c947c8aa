//! The terms of a text: its words, and every two words that follow each other.
//!
//! - Letters are compared in lower case and in the compatibility form NFKC: full-width letters as ordinary ones.
//! - Word boundaries are those of UAX 29, but that a word is also split at an apostrophe, full stop or colon inside it,
//!   unless it stands between digits: "l'homme" holds "homme", and "end.Next" two words.
//! - Words of ASCII letters are taken for English: function words are left out, a possessive or plural s is cut. Words
//!   with any other letter stay as they are.
//! - Chinese and Japanese set no spaces: each character is a word there, so that the pairs are bigrams. Thai, Lao, Khmer
//!   and Burmese neither: a word is two adjacent characters (with their marks), so that the pairs are trigrams.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_segmentation::UnicodeSegmentation;

use crate::random::{key, mix};

/// English function words, which say little of what a text is about; sorted.
const STOP_WORDS: [&str; 72] = [
    "a", "an", "and", "are", "as", "at", "be", "been", "being", "but", "by", "can", "could", "did", "do", "does",
    "for", "from", "had", "has", "have", "he", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "me",
    "my", "no", "not", "of", "on", "or", "our", "she", "so", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "up", "was", "we", "were", "what", "when", "where", "which", "while",
    "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

/// Characters inside a word at which it is split all the same, unless they stand between digits.
const JOINTS: [char; 8] = ['\'', '‘', '’', '.', ':', '·', '՟', '‧'];

/// Signs that belong to a word: the low line, and its rare relatives.
const CONNECTORS: [char; 4] = ['_', '‿', '⁀', '⁔'];

/// Characters that show nothing and only tell how to lay out a text.
const INVISIBLE: [char; 5] = ['\u{ad}', '\u{200e}', '\u{200f}', '\u{2060}', '\u{feff}'];

/// Appends the terms of a text to `terms`: the hashes of its words, and of every two that follow each other.
pub fn terms(text: &str, terms: &mut Vec<u64>) {
    let mut previous = None;
    each_word(text, |word| {
        let word = key(word);
        terms.push(word);
        terms.extend(previous.map(|before| pair(before, word)));
        previous = Some(word);
    });
}

/// The hash of two words that follow each other.
fn pair(first: u64, second: u64) -> u64 {
    mix(mix(first.wrapping_add(0x9E37_79B9_7F4A_7C15)) ^ second)
}

/// Calls `found` with each word of a text, in order.
pub fn each_word(text: &str, mut found: impl FnMut(&str)) {
    let text = folded(text);
    // Where a run of letters of a script like Thai begins, where its last character begins, and where it ends.
    let mut run: Option<(usize, usize, usize)> = None;
    for (start, segment) in text.split_word_bound_indices() {
        let end = start + segment.len();
        let spacing = segment.chars().next().map_or(Spacing::Words, spacing_of);
        if spacing == Spacing::Clusters {
            if let Some((_, last, _)) = run {
                found(&text[last..end]);
            }
            run = Some((run.map_or(start, |run| run.0), start, end));
            continue;
        }
        end_run(&text, &mut run, &mut found);
        match spacing {
            Spacing::Characters => each_character(segment, &mut found),
            _ => each_part(segment, &mut found),
        }
    }
    end_run(&text, &mut run, &mut found);
}

/// Ends a run of letters of a script like Thai: one that is a single character is a word by itself.
fn end_run(text: &str, run: &mut Option<(usize, usize, usize)>, found: &mut impl FnMut(&str)) {
    if let Some((start, last, end)) = run.take()
        && start == last
    {
        found(&text[start..end]);
    }
}

/// The text in NFKC and lower case, character by character (final sigma as sigma), without what is invisible.
fn folded(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(text.to_ascii_lowercase())
        } else {
            Cow::Borrowed(text)
        };
    }
    let lower = |letters: &mut dyn Iterator<Item = char>| {
        letters
            .filter(|letter| !INVISIBLE.contains(letter))
            .flat_map(char::to_lowercase)
            .map(|letter| if letter == 'ς' { 'σ' } else { letter })
            .collect()
    };
    match is_nfkc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Owned(lower(&mut text.chars())),
        _ => Cow::Owned(lower(&mut text.nfkc())),
    }
}

/// The words of a segment that UAX 29 takes for one: split at its joints.
fn each_part(segment: &str, found: &mut impl FnMut(&str)) {
    // A segment that begins with anything else is a space or a sign, perhaps with marks.
    let begins = segment.starts_with(|first: char| first.is_alphanumeric() || CONNECTORS.contains(&first));
    if !begins || !segment.chars().any(char::is_alphanumeric) {
        return;
    }
    let (mut start, mut before, mut joint) = (0, ' ', ' ');
    let mut letters = segment.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let after = letters.peek().map_or(' ', |next| next.1);
        if JOINTS.contains(&letter) && !(before.is_numeric() && after.is_numeric()) {
            word(&segment[start..at], joint, found);
            (start, joint) = (at + letter.len_utf8(), letter);
        }
        before = letter;
    }
    word(&segment[start..], joint, found);
}

/// One word, as it is compared: without a possessive s, and of ASCII letters no function word and no plural s.
fn word(part: &str, joint: char, found: &mut impl FnMut(&str)) {
    let possessive = part == "s" && matches!(joint, '\'' | '‘' | '’');
    if part.is_empty() || possessive || STOP_WORDS.binary_search(&part).is_ok() {
        return;
    }
    match part.strip_suffix('s') {
        Some(stem) if part.is_ascii() && part.len() > 3 && !stem.ends_with('s') => match stem.strip_suffix("ie") {
            Some(stem) if part.len() > 4 => found(&[stem, "y"].concat()),
            _ => found(stem),
        },
        _ => found(part),
    }
}

/// Each character of a segment that begins with Chinese or Japanese, and what a low line joins to it.
fn each_character(segment: &str, found: &mut impl FnMut(&str)) {
    let mut others = String::new();
    for (at, letter) in segment.char_indices() {
        if spacing_of(letter) == Spacing::Characters {
            found(&segment[at..at + letter.len_utf8()]);
        } else if !others.is_empty() || CONNECTORS.contains(&letter) {
            others.push(letter);
        }
    }
    each_part(&others, found);
}

/// How a script tells its words apart.
#[derive(Clone, Copy, PartialEq)]
enum Spacing {
    /// By spaces and punctuation.
    Words,
    /// Not at all; a character is a syllable or a word.
    Characters,
    /// Not at all; a character is a letter with its marks.
    Clusters,
}

/// By the blocks of Unicode: Chinese and Japanese, and Thai, Lao, Burmese and Khmer without their digits.
fn spacing_of(letter: char) -> Spacing {
    match letter {
        '\0'..='\u{dff}' => Spacing::Words,
        '\u{e01}'..='\u{e4e}' | '\u{e81}'..='\u{ece}' | '\u{edc}'..='\u{edf}' => Spacing::Clusters,
        '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{108f}' | '\u{109a}'..='\u{109f}' => Spacing::Clusters,
        '\u{a9e0}'..='\u{a9ef}' | '\u{a9fa}'..='\u{a9fe}' | '\u{aa60}'..='\u{aa7f}' => Spacing::Clusters,
        '\u{1780}'..='\u{17d3}' | '\u{17d7}' | '\u{17dc}'..='\u{17dd}' => Spacing::Clusters,
        '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303b}' => Spacing::Characters,
        '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' => {
            Spacing::Characters
        }
        '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' => Spacing::Characters,
        '\u{f900}'..='\u{faff}' | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}' => Spacing::Characters,
        _ => Spacing::Words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        each_word(text, |word| all.push(word.to_owned()));
        all
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn english_words_lose_what_says_little() {
        assert_eq!(words("The Beatles' songs: who sings them?"), ["beatle", "song", "sing"]);
        assert_eq!(words("Obama's wives, boss's glasses"), ["obama", "wive", "boss", "glasse"]);
        assert_eq!(words("Cities of 1990s USS gas"), ["city", "1990", "uss", "gas"]);
    }

    #[test]
    fn words_are_split_where_nothing_joins_them() {
        assert_eq!(
            words("end.Next l'homme 3.14 1,000 U.S. re-run"),
            ["end", "next", "l", "homme", "3.14", "1,000", "u", "s", "re", "run"]
        );
        assert_eq!(words("snake_case"), ["snake_case"]);
    }

    #[test]
    fn other_letters_stay_as_they_are() {
        assert_eq!(words("Straßenbahnen ÉCOLES ΟΔΟΣ"), ["straßenbahnen", "écoles", "οδοσ"]);
        assert_eq!(words("ＦＵＬＬ cafe\u{301} ex\u{ad}ample"), ["full", "café", "example"]);
        assert_eq!(words("हिन्दी में"), ["हिन्दी", "में"]);
    }

    #[test]
    fn scripts_without_spaces_give_characters() {
        assert_eq!(words("東京タワーへ"), ["東", "京", "タ", "ワ", "ー", "へ"]);
        assert_eq!(words("แมวกิน"), ["แม", "มว", "วกิ", "กิน"]);
        assert_eq!(words("ก 5"), ["ก", "5"]);
        assert_eq!(words("データ_v2の\u{3099}"), ["デ", "ー", "タ", "_v2", "の"]);
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(words(" \t—…!?🙂"), [""; 0]);
    }

    #[test]
    fn pairs_follow_their_words() {
        let mut all = Vec::new();
        terms("president of France", &mut all);
        let (president, france) = (key("president"), key("france"));
        assert_eq!(all, [president, france, pair(president, france)]);
        assert_ne!(pair(president, france), pair(france, president));
    }
}
