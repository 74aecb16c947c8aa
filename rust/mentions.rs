//! Finds which titles occur as whole words in which texts (NG: title-mention graphs).

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
use rayon::prelude::*;

use crate::control::Control;
use crate::error::Error;

/// The number of texts in a task.
const TEXTS: usize = 32;

/// The number of hits in a text after which the superfluous ones are dropped.
const HITS: usize = 4096;

/// The parameters of [`title_mentions`].
#[derive(Debug, Clone, Copy)]
pub struct Mentions {
    /// Whether upper and lower case count as the same.
    pub ignore_case: bool,
    /// Titles with fewer characters are left out.
    pub min_length: usize,
}

/// A match: its first byte, the byte after its last, and the number of the pattern.
type Hit = (usize, usize, u32);

/// All pairs (title, text), sorted and distinct, where the title occurs in the text.
///
/// - An occurrence is a *whole word*. If the title begins with a word character, the character before it must not be
///   one. The same holds for its end. Word characters are letters, digits, the underscore and combining marks of any
///   script. An end that is not a word character (as in "Who?") needs no boundary.
/// - Occurrences are *leftmost-longest*. The search goes from left to right, takes the longest title that is a whole
///   word at a position, and goes on after it. So "New York City" does not also mention "York". A longer title that is
///   not a whole word hides nothing: "York Cityscape" mentions "York".
/// - With `ignore_case`, titles and texts are compared in lower case, character by character. A final sigma counts as a
///   sigma.
/// - Titles that are then equal are all mentioned. Titles without any visible character are never mentioned.
///
/// # Errors
/// More titles or texts than 32 bits can number, an automaton beyond its limits, cancellation.
pub fn title_mentions<T: AsRef<str> + Sync, U: AsRef<str> + Sync>(
    titles: &[T],
    texts: &[U],
    options: &Mentions,
    control: &Control,
) -> Result<Vec<(u32, u32)>, Error> {
    for (what, found) in [("titles", titles.len()), ("texts", texts.len())] {
        if found >= u32::MAX as usize {
            return Err(Error::TooMany { what, found, limit: u32::MAX as usize - 1 });
        }
    }
    let (patterns, titles_of) = patterns(titles, options);
    let automaton = automaton(&patterns)?;
    control.expect(texts.len());
    let parts: Vec<Vec<(u32, u32)>> = texts
        .par_chunks(TEXTS)
        .enumerate()
        .map(|(chunk, texts)| {
            let (mut pairs, mut hits) = (Vec::new(), Vec::new());
            for (offset, text) in texts.iter().enumerate() {
                let text_index = (chunk * TEXTS + offset) as u32;
                hits.clear();
                find(&automaton, text.as_ref(), options.ignore_case, &mut hits);
                for &(_, _, pattern) in &hits {
                    pairs.extend(titles_of[pattern as usize].iter().map(|&title| (title, text_index)));
                }
            }
            pairs.sort_unstable();
            pairs.dedup();
            control.advance(texts.len())?;
            Ok(pairs)
        })
        .collect::<Result<_, Error>>()?;
    let mut pairs = parts.concat();
    pairs.par_sort_unstable();
    Ok(pairs)
}

/// The distinct patterns to look for, and the titles that each of them stands for.
fn patterns<T: AsRef<str>>(titles: &[T], options: &Mentions) -> (Vec<String>, Vec<Vec<u32>>) {
    let mut index: HashMap<String, u32> = HashMap::new();
    let (mut patterns, mut titles_of): (Vec<String>, Vec<Vec<u32>>) = (Vec::new(), Vec::new());
    for (title, text) in titles.iter().map(AsRef::as_ref).enumerate() {
        if text.trim().is_empty() || text.chars().take(options.min_length).count() < options.min_length {
            continue;
        }
        let pattern = if options.ignore_case { fold(text) } else { text.to_owned() };
        let slot = *index.entry(pattern).or_insert_with_key(|pattern| {
            patterns.push(pattern.clone());
            titles_of.push(Vec::new());
            titles_of.len() as u32 - 1
        });
        titles_of[slot as usize].push(title as u32);
    }
    (patterns, titles_of)
}

fn automaton(patterns: &[String]) -> Result<AhoCorasick, Error> {
    // The automaton reports all overlapping matches, and `find` chooses among them. Its own leftmost-longest matching
    // would drop a title in favor of a longer one that turns out not to be a whole word.
    let built = AhoCorasickBuilder::new().match_kind(MatchKind::Standard).build(patterns);
    built.map_err(|error| Error::parameter("titles", error, "a set the automaton can hold"))
}

/// Lower case, character by character, so that a letter folds the same way at every place.
fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().flat_map(char::to_lowercase).map(|letter| if letter == 'ς' { 'σ' } else { letter }).collect()
}

/// Finds the leftmost-longest whole words of one text.
fn find(automaton: &AhoCorasick, text: &str, ignore_case: bool, hits: &mut Vec<Hit>) {
    let folded;
    let text = if ignore_case {
        folded = fold(text);
        folded.as_str()
    } else {
        text
    };
    let all = automaton.find_overlapping_iter(text).map(|hit| (hit.start(), hit.end(), hit.pattern().as_u32()));
    let mut room = HITS;
    for hit in all.filter(|hit| is_whole(text, hit.0, hit.1)) {
        // Titles that contain each other may all occur at the same word. Of those that begin together only one is kept;
        // otherwise there could be as many hits as titles times words.
        if hits.len() == room {
            keep_longest(hits);
            room = HITS.max(2 * hits.len());
        }
        hits.push(hit);
    }
    keep_longest(hits);
    let mut end = 0;
    hits.retain(|hit| {
        let free = hit.0 >= end;
        if free {
            end = hit.1;
        }
        free
    });
}

/// Sorts hits by their start, and keeps the longest of those with the same start.
fn keep_longest(hits: &mut Vec<Hit>) {
    hits.sort_unstable_by_key(|hit| (hit.0, std::cmp::Reverse(hit.1)));
    hits.dedup_by_key(|hit| hit.0);
}

/// Whether no word continues across either end of `text[start..end]`.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let goes_on = |at: usize| {
        let (before, after) = text.split_at(at);
        before.chars().next_back().is_some_and(is_word) && after.chars().next().is_some_and(is_word)
    };
    !goes_on(start) && !goes_on(end)
}

/// Letters, digits, the underscore, and combining marks. Without marks, a word could end between a letter and its
/// accent.
fn is_word(letter: char) -> bool {
    if letter.is_ascii() {
        return letter == '_' || letter.is_ascii_alphanumeric();
    }
    letter.is_alphanumeric() || regex_syntax::try_is_word_character(letter).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mentioned(titles: &[&str], text: &str, ignore_case: bool) -> Vec<u32> {
        let options = Mentions { ignore_case, min_length: 2 };
        let pairs = title_mentions(titles, &[text], &options, &Control::new()).unwrap();
        pairs.into_iter().map(|pair| pair.0).collect()
    }

    #[test]
    fn leftmost_longest_whole_words() {
        let titles = ["York", "New York", "New York City", "City"];
        assert_eq!(mentioned(&titles, "In New York City.", false), [2]);
        assert_eq!(mentioned(&titles, "New York Citys", false), [1]);
        assert_eq!(mentioned(&titles, "Newer York, Yorkshire", false), [0]);
        assert_eq!(mentioned(&titles, "NewYork _York York_", false), [0u32; 0]);
    }

    #[test]
    fn boundaries_know_all_scripts() {
        assert_eq!(mentioned(&["cafe"], "a cafe\u{301}", false), [0u32; 0]);
        assert_eq!(mentioned(&["東京"], "東京。", false), [0]);
        assert_eq!(mentioned(&["東京"], "東京都", false), [0u32; 0]);
        assert_eq!(mentioned(&["Who?", "(film)"], "Who?s (film)s", false), [0, 1]);
    }

    #[test]
    fn nested_titles_take_no_more_memory_than_the_text() {
        let titles: Vec<String> = (1..=300).map(|count| vec!["a"; count].join(" ")).collect();
        let (text, mut hits) = (vec!["a"; 3000].join(" "), Vec::new());
        find(&automaton(&titles).unwrap(), &text, false, &mut hits);
        assert_eq!(hits.iter().map(|hit| hit.2).collect::<Vec<_>>(), [299; 10]);
        assert!(hits.capacity() <= 4 * HITS, "{}", hits.capacity());
    }

    #[test]
    fn case_folding() {
        assert_eq!(mentioned(&["ΟΔΟΣ"], "η οδος", true), [0]);
        assert_eq!(mentioned(&["i"], "İ", true), [0u32; 0]);
        assert_eq!(mentioned(&["Paris"], "paris", false), [0u32; 0]);
        assert_eq!(mentioned(&["Paris", "PARIS", "x", " \t"], "in paris x \t", true), [0, 1]);
    }
}
