#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gme_fuzz::lexical::check(data));
