//! The items of presenters that a presenter embeds.

use crate::{
    Json,
    app::{App, PresentedField, Presenter},
};

/// Is shown each nested item that a presenter of its own presents, that presenter, and whether the
/// item is one of a list.
pub(super) type Visit<'v, 'a> = dyn FnMut(&'a Presenter, &mut Json, bool) + 'v;

/// Visits each nested item that a presenter of its own presents; what is `null` is no item.
pub(super) fn embedded<'a>(app: &'a App, fields: &'a [PresentedField], item: &mut Json, visit: &mut Visit<'_, 'a>) {
    let Json::Object(members) = item else { return };
    for field in fields.iter().filter(|field| embeds(field)) {
        if let Some(value) = members.get_mut(&field.name) {
            below(app, field, value, visit);
        }
    }
}

fn below<'a>(app: &'a App, field: &'a PresentedField, value: &mut Json, visit: &mut Visit<'_, 'a>) {
    match (value, field.returns.and_then(|child| app.presenters.get(child as usize))) {
        (Json::Array(elements), Some(child)) => {
            elements.iter_mut().filter(|element| !element.is_null()).for_each(|element| visit(child, element, true))
        }
        (Json::Null, _) => {}
        (value, Some(child)) => visit(child, value, false),
        (Json::Array(elements), None) => {
            for items in field.items.iter() {
                elements.iter_mut().for_each(|element| below(app, items, element, visit));
            }
        }
        (value, None) => embedded(app, &field.fields, value, visit),
    }
}

/// Whether something below a field is presented by a presenter of its own.
pub(super) fn embeds(field: &PresentedField) -> bool {
    field.returns.is_some() || field.items.as_deref().is_some_and(embeds) || field.fields.iter().any(embeds)
}
