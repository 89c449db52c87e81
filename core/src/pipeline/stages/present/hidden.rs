//! Items in which nothing is hidden, apart from the fields that stay as they are.

use crate::{
    Json,
    app::{App, PresentedField},
    hidden::{reveal_json, reveal_keys},
};

/// Makes the texts and keys of an item visible.
pub(super) fn reveal(app: &App, fields: &[PresentedField], item: &mut Json) {
    let Json::Object(members) = item else {
        reveal_json(item, &[]);
        return;
    };
    let mut is_of_schema = true;
    for (place, (name, value)) in members.iter_mut().enumerate() {
        // As most items have them: the fields of the schema, in its order.
        let field = fields.get(place).filter(|field| field.name == *name).or_else(|| fields.iter().find(|field| field.name == *name));
        match field {
            Some(field) => of_field(app, field, value),
            None => {
                is_of_schema = false;
                reveal_json(value, &[]);
            }
        }
    }
    if !is_of_schema {
        reveal_keys(members);
    }
}

fn of_field(app: &App, field: &PresentedField, value: &mut Json) {
    if field.as_is {
        return;
    }
    let child = field.returns.and_then(|child| app.presenters.get(child as usize)).map(|child| &child.fields);
    match (value, child.or(Some(&field.fields).filter(|fields| !fields.is_empty()))) {
        (Json::Array(elements), fields) => {
            for element in elements {
                match (&field.items, fields) {
                    (Some(items), _) => of_field(app, items, element),
                    (None, Some(fields)) => reveal(app, fields, element),
                    (None, None) => {
                        reveal_json(element, &[]);
                    }
                }
            }
        }
        (value, Some(fields)) => reveal(app, fields, value),
        (value, None) => {
            reveal_json(value, &[]);
        }
    }
}
