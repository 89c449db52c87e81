//! The natives of `URL` and `URLSearchParams`.

use boa_engine::{Context, JsArgs, JsResult, JsString, JsValue};
use url::{Url, form_urlencoded, quirks};

use crate::native::{new_strings, strings, text};

/// `(url, base?) => parts | null`
pub(super) fn parse(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let url = text(arguments, 0, context)?;
    let parsed = if arguments.get_or_undefined(1).is_undefined() {
        Url::parse(&url)
    } else {
        let base = text(arguments, 1, context)?;
        Url::parse(&base).and_then(|base| base.join(&url))
    };
    Ok(parsed.map_or_else(|_| JsValue::null(), |url| parts(&url, context)))
}

/// `(href, part, value) => parts | null`: null where the value does not fit.
pub(super) fn set(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (href, part, value) = (text(arguments, 0, context)?, text(arguments, 1, context)?, text(arguments, 2, context)?);
    let Ok(mut url) = Url::parse(&href) else { return Ok(JsValue::null()) };
    let changed = match part.as_str() {
        "protocol" => quirks::set_protocol(&mut url, &value),
        "username" => quirks::set_username(&mut url, &value),
        "password" => quirks::set_password(&mut url, &value),
        "host" => quirks::set_host(&mut url, &value),
        "hostname" => quirks::set_hostname(&mut url, &value),
        "port" => quirks::set_port(&mut url, &value),
        "pathname" => {
            quirks::set_pathname(&mut url, &value);
            Ok(())
        }
        "hash" => {
            quirks::set_hash(&mut url, &value);
            Ok(())
        }
        _ => {
            quirks::set_search(&mut url, &value);
            Ok(())
        }
    };
    Ok(if changed.is_ok() { parts(&url, context) } else { JsValue::null() })
}

/// `(text) => [name, value, …]`
pub(super) fn form_parse(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = text(arguments, 0, context)?;
    let flat: Vec<String> =
        form_urlencoded::parse(text.as_bytes()).flat_map(|(name, value)| [name.into_owned(), value.into_owned()]).collect();
    Ok(new_strings(flat.iter().map(String::as_str), context))
}

/// `([name, value, …]) => text`
pub(super) fn form_serialize(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let flat = strings(arguments.get_or_undefined(0), context)?;
    let mut form = form_urlencoded::Serializer::new(String::new());
    for pair in flat.chunks_exact(2) {
        form.append_pair(&pair[0], &pair[1]);
    }
    Ok(JsString::from(form.finish().as_str()).into())
}

fn parts(url: &Url, context: &mut Context) -> JsValue {
    let origin = quirks::origin(url);
    let parts = [
        quirks::href(url),
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
        &origin,
    ];
    new_strings(parts, context)
}
