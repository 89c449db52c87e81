//! The body of a request: the statement, and its values as further fields of a form.

use millrace_core::{hex, ports::Random};

use super::parameters::Parameters;

/// The content type and the body.
///
/// A statement without values is the body as it is. In a form, what is between two values is
/// chance, which nobody can have written; besides, no value has the end of a line in it.
pub(super) fn write(text: &str, parameters: &Parameters, random: &dyn Random) -> (String, Vec<u8>) {
    if parameters.is_empty() {
        return ("text/plain; charset=utf-8".to_owned(), text.as_bytes().to_vec());
    }
    let mut chance = [0; 16];
    random.fill(&mut chance);
    let boundary = hex::encode(&chance);
    let mut body = Vec::new();
    let mut field = |name: &str, value: &[u8]| {
        body.extend_from_slice(format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n").as_bytes());
        body.extend_from_slice(value);
        body.extend_from_slice(b"\r\n");
    };
    field("query", text.as_bytes());
    for (number, value) in parameters {
        field(&format!("param_p{number}"), value);
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body)
}
