/* Texts of errors, as V8 has them: people and their tools know those. Part of quickjs.c, behind its table of opcodes. */

#define SITE_KEPT 64
#define SITE_TEXT 160
#define SITE_DEPTH 8

typedef struct {
    JSContext *ctx;
    JSFunctionBytecode *b;
    int at[SITE_KEPT];  /* the last instructions up to the one at which the function stands */
    int count;
    char *text;
    int length;
    int limit;  /* of the text; 0 is SITE_TEXT */
} CallSite;

static void site_add(CallSite *site, const char *text)
{
    int left = (site->limit ? site->limit : SITE_TEXT) - 1 - site->length, n = strlen(text);
    if (n > left)
        n = left;
    memcpy(site->text + site->length, text, n);
    site->length += n;
    site->text[site->length] = '\0';
}

static void site_add_atom(CallSite *site, JSAtom atom)
{
    char buf[ATOM_GET_STR_BUF_SIZE];
    site_add(site, JS_AtomGetStr(site->ctx, buf, sizeof(buf), atom));
}

/* A value as V8 shows it; a text in quotes. */
static void site_add_value(CallSite *site, JSValueConst val)
{
    JSContext *ctx = site->ctx;
    const char *str;
    switch (JS_VALUE_GET_NORM_TAG(val)) {
    case JS_TAG_OBJECT:
        site_add(site, JS_IsFunction(ctx, val) ? "function" : JS_VALUE_GET_OBJ(val)->class_id == JS_CLASS_ARRAY ? "[object Array]" : "#<Object>");
        return;
    case JS_TAG_SYMBOL:
        site_add(site, "Symbol()");
        return;
    case JS_TAG_STRING:
    case JS_TAG_STRING_ROPE:
        site_add(site, "\"");
        break;
    }
    str = JS_ToCString(ctx, val);
    if (!str) {
        JS_FreeValue(ctx, JS_GetException(ctx));
        return;
    }
    site_add(site, str);
    JS_FreeCString(ctx, str);
    if (JS_IsString(val))
        site_add(site, "\"");
}

static int site_pops(const uint8_t *code, int at)
{
    const JSOpCode *info = &short_opcode_info(code[at]);
    if (info->fmt == OP_FMT_npop || info->fmt == OP_FMT_npop_u16)
        return info->n_pop + get_u16(code + at + 1);
    if (info->fmt == OP_FMT_npopx)
        return info->n_pop + code[at] - OP_call0;
    return info->n_pop;
}

static int site_target(const uint8_t *code, int at)
{
    switch (short_opcode_info(code[at]).fmt) {
    case OP_FMT_label:
    case OP_FMT_label_u16:
        return at + 1 + (int)get_u32(code + at + 1);
    case OP_FMT_label16:
        return at + 1 + (int16_t)get_u16(code + at + 1);
    case OP_FMT_label8:
        return at + 1 + (int8_t)code[at + 1];
    case OP_FMT_atom_label_u8:
    case OP_FMT_atom_label_u16:
        return at + 5 + (int)get_u32(code + at + 5);
    default:
        return -1;
    }
}

static bool site_is_branch(const uint8_t *code, int at)
{
    return code[at] == OP_if_false || code[at] == OP_if_false8 || code[at] == OP_if_true || code[at] == OP_if_true8;
}

/* The instruction before `index` that has put the value there which is `*slot` values below the top; -1 where that depends on the way. */
static int site_producer(CallSite *site, int index, int *slot)
{
    const uint8_t *code = site->b->byte_code_buf;
    int at, push, pop, i, target, end = site->at[index];
    while (--index >= 0) {
        at = site->at[index];
        switch (code[at]) {
        case OP_goto: case OP_goto8: case OP_goto16: case OP_return_undef:
            /* `a ? b : c` and `a?.b`: goes on where the way begins that leads here */
            target = at + short_opcode_info(code[at]).size;
            while (--index > 0 && !(site_is_branch(code, site->at[index]) && site_target(code, site->at[index]) == target))
                ;
            if (index++ <= 0)
                return -1;
            continue;
        case OP_gosub: case OP_ret: case OP_catch: case OP_return: case OP_return_async: case OP_throw: case OP_throw_error:
        case OP_swap2: case OP_nip: case OP_nip1: case OP_dup1: case OP_dup2: case OP_dup3:
        case OP_insert2: case OP_insert3: case OP_insert4: case OP_perm4: case OP_perm5:
        case OP_rot3l: case OP_rot3r: case OP_rot4l: case OP_rot5l:
            return -1;
        case OP_swap:
            if (*slot < 2)
                *slot ^= 1;
            continue;
        case OP_perm3:
            if (*slot == 1 || *slot == 2)
                *slot ^= 3;
            continue;
        }
        push = short_opcode_info(code[at]).n_push;
        pop = site_pops(code, at);
        if (*slot < push) {
            /* what may come from elsewhere is not known */
            for (i = 0; i < at; i += short_opcode_info(code[i]).size) {
                target = site_target(code, i);
                if (target > at && target <= end)
                    return -1;
            }
            return index;
        }
        *slot += pop - push;
    }
    return -1;
}

static void site_render(CallSite *site, int index, int slot, int depth);

static void site_add_var(CallSite *site, JSAtom name)
{
    if (name == JS_ATOM_NULL)
        site_add(site, "(intermediate value)");
    else if (name == JS_ATOM_this)
        site_add(site, "this");
    else
        site_add_atom(site, name);
}

/* What the value `slot` below the top is called, before the instruction at `index`. */
static void site_render(CallSite *site, int index, int slot, int depth)
{
    JSFunctionBytecode *b = site->b;
    const uint8_t *pc;
    char buf[24];
    int op, before, idx, arg = -1, loc = -1, ref = -1;
    index = depth < SITE_DEPTH ? site_producer(site, index, &slot) : -1;
    if (index < 0)
        goto unknown;
    pc = b->byte_code_buf + site->at[index];
    op = *pc++;
    switch (op) {
    case OP_get_var: case OP_get_var_undef:
        site_add_atom(site, get_u32(pc));
        return;
    case OP_get_loc: case OP_get_loc_check:
        loc = get_u16(pc);
        break;
    case OP_get_loc8:
        loc = *pc;
        break;
    case OP_get_loc0: case OP_get_loc1: case OP_get_loc2: case OP_get_loc3:
        loc = op - OP_get_loc0;
        break;
    case OP_get_loc0_loc1:
        loc = slot == 0;
        break;
    case OP_get_arg:
        arg = get_u16(pc);
        break;
    case OP_get_arg0: case OP_get_arg1: case OP_get_arg2: case OP_get_arg3:
        arg = op - OP_get_arg0;
        break;
    case OP_get_var_ref: case OP_get_var_ref_check:
        ref = get_u16(pc);
        break;
    case OP_get_var_ref0: case OP_get_var_ref1: case OP_get_var_ref2: case OP_get_var_ref3:
        ref = op - OP_get_var_ref0;
        break;
    case OP_push_this:
        site_add(site, "this");
        return;
    case OP_dup: case OP_to_object: case OP_check_object:
        site_render(site, index, 0, depth + 1);
        return;
    case OP_get_field2:
        if (slot == 1) {
            site_render(site, index, 0, depth + 1);
            return;
        }
        /* fall thru */
    case OP_get_field:
        site_render(site, index, 0, depth + 1);
        /* behind `a?` the code comes from elsewhere */
        before = index > 0 ? b->byte_code_buf[site->at[index - 1]] : OP_nop;
        site_add(site, before == OP_goto || before == OP_goto8 || before == OP_goto16 || before == OP_return_undef ? "?." : ".");
        site_add_atom(site, get_u32(pc));
        return;
    case OP_get_length:
        site_render(site, index, 0, depth + 1);
        site_add(site, ".length");
        return;
    case OP_get_array_el2:
        if (slot == 1) {
            site_render(site, index, 1, depth + 1);
            return;
        }
        /* fall thru */
    case OP_get_array_el:
        site_render(site, index, 1, depth + 1);
        site_add(site, "[");
        site_render(site, index, 0, depth + 1);
        site_add(site, "]");
        return;
    case OP_call0: case OP_call1: case OP_call2: case OP_call3:
        site_render(site, index, op - OP_call0, depth + 1);
        site_add(site, "(...)");
        return;
    case OP_call: case OP_call_method:
        site_render(site, index, get_u16(pc), depth + 1);
        site_add(site, "(...)");
        return;
    case OP_push_i32:
        idx = get_u32(pc);
        goto number;
    case OP_push_i8:
        idx = (int8_t)*pc;
        goto number;
    case OP_push_i16:
        idx = (int16_t)get_u16(pc);
        goto number;
    case OP_push_minus1: case OP_push_0: case OP_push_1: case OP_push_2: case OP_push_3: case OP_push_4:
    case OP_push_5: case OP_push_6: case OP_push_7:
        idx = op - OP_push_0;
    number:
        snprintf(buf, sizeof(buf), "%d", idx);
        site_add(site, buf);
        return;
    case OP_push_const: case OP_push_const8:
        idx = op == OP_push_const ? (int)get_u32(pc) : *pc;
        if (JS_IsObject(b->cpool[idx]))
            goto unknown;
        site_add_value(site, b->cpool[idx]);
        return;
    case OP_push_atom_value:
        site_add(site, "\"");
        site_add_atom(site, get_u32(pc));
        site_add(site, "\"");
        return;
    case OP_push_empty_string:
        site_add(site, "\"\"");
        return;
    case OP_undefined:
        site_add(site, "undefined");
        return;
    case OP_null:
        site_add(site, "null");
        return;
    case OP_push_true:
        site_add(site, "true");
        return;
    case OP_push_false:
        site_add(site, "false");
        return;
    case OP_object:
        site_add(site, "{}");
        return;
    case OP_array_from:
        site_add(site, get_u16(pc) ? "[(intermediate value)]" : "[]");
        return;
    case OP_define_field: case OP_define_method: case OP_copy_data_properties:
        site_add(site, "{(intermediate value)}");
        return;
    }
    if (loc >= 0 && loc < b->var_count)
        site_add_var(site, b->vardefs[b->arg_count + loc].var_name);
    else if (arg >= 0 && arg < b->arg_count)
        site_add_var(site, b->vardefs[arg].var_name);
    else if (ref >= 0 && ref < b->closure_var_count)
        site_add_var(site, b->closure_var[ref].var_name);
    else
        goto unknown;
    return;
unknown:
    site_add(site, "(intermediate value)");
}

/* Reads the code up to the instruction that ends at `end`. */
static int site_scan(CallSite *site, int end)
{
    JSFunctionBytecode *b = site->b;
    int at, next;
    site->count = 0;
    for (at = 0; at < b->byte_code_len; at = next) {
        next = at + short_opcode_info(b->byte_code_buf[at]).size;
        if (site->count == SITE_KEPT) {
            memcpy(site->at, site->at + SITE_KEPT / 2, sizeof(site->at) / 2);
            site->count = SITE_KEPT / 2;
        }
        site->at[site->count++] = at;
        if (next >= end)
            return next == end;
    }
    return 0;
}

/* What is taken apart by the instruction at which the function stands. The code of an initial value may be behind that of its pattern. */
static void site_render_initial(CallSite *site)
{
    const uint8_t *code = site->b->byte_code_buf;
    int *at = site->at + site->count, start = at[-1], i = -1;
    if (site->count > 4 && code[at[-5]] == OP_undefined && code[at[-4]] == OP_dup && code[at[-3]] == OP_is_undefined && site_is_branch(code, at[-2]))
        i = site_target(code, at[-2]);
    else if (site->count > 2 && code[at[-2]] == OP_dup && (code[at[-3]] == OP_goto || code[at[-3]] == OP_goto8 || code[at[-3]] == OP_goto16))
        i = site_target(code, at[-3]);
    for (; i > start && i < site->b->byte_code_len; i += short_opcode_info(code[i]).size) {
        if (site_target(code, i) == start || site_target(code, i) == start - 1) {
            if (site_scan(site, i + short_opcode_info(code[i]).size))
                site_render(site, site->count - 1, 0, 0);
            site_scan(site, start + 1);
            return;
        }
    }
    site_render(site, site->count - 1, 0, 0);
}

/* Reads the code of the function that runs up to where it stands. */
static int site_find(CallSite *site, JSContext *ctx, char *text)
{
    JSStackFrame *sf = ctx->rt->current_stack_frame;
    JSFunctionBytecode *b;
    site->ctx = ctx;
    site->text = text;
    site->length = site->count = 0;
    *text = '\0';
    if (!sf || JS_VALUE_GET_TAG(sf->cur_func) != JS_TAG_OBJECT || !sf->cur_pc)
        return 0;
    site->b = b = JS_GetFunctionBytecode(sf->cur_func);
    if (!b)
        return 0;
    return site_scan(site, sf->cur_pc - b->byte_code_buf);
}

/* The name of what the function that runs calls with `argv`, or a showing of `val`. */
static no_inline const char *site_callee(JSContext *ctx, JSValueConst val, int argc, JSValueConst *argv, int below, char *text)
{
    CallSite site = { 0 };
    JSStackFrame *sf = ctx->rt->current_stack_frame;
    if (sf && argv && site_find(&site, ctx, text)) {
        JSValue *stack = sf->var_buf + site.b->var_count, *place = (JSValue *)argv - below;
        if (place >= stack && place < stack + site.b->stack_size && !memcmp(place, &val, sizeof(val))) {
            site_render(&site, site.count - 1, argc + below - 1, 0);
            return text;
        }
    }
    site.ctx = ctx;
    site.text = text;
    site.length = 0;
    site_add_value(&site, val);
    return text;
}

/* A value with its kind: `number 5`, `string "x"`, `object null`. */
static no_inline const char *site_kind(JSContext *ctx, JSValueConst val, char *text)
{
    CallSite site = { 0 };
    site.ctx = ctx;
    site.text = text;
    site.length = 0;
    *text = '\0';
    switch (JS_VALUE_GET_NORM_TAG(val)) {
    case JS_TAG_UNDEFINED:
        break;
    case JS_TAG_OBJECT:
        site_add(&site, JS_IsFunction(ctx, val) ? "function" : "object");
        return text;
    case JS_TAG_SYMBOL:
        site_add(&site, "symbol");
        return text;
    case JS_TAG_STRING: case JS_TAG_STRING_ROPE:
        site_add(&site, "string ");
        break;
    case JS_TAG_BOOL:
        site_add(&site, "boolean ");
        break;
    case JS_TAG_NULL:
        site_add(&site, "object ");
        break;
    case JS_TAG_BIG_INT: case JS_TAG_SHORT_BIG_INT:
        site_add(&site, "bigint ");
        break;
    default:
        site_add(&site, "number ");
    }
    site_add_value(&site, val);
    return text;
}

static no_inline JSValue JS_ThrowTypeErrorOfProperty(JSContext *ctx, const char *verb, const char *verbing, JSValueConst obj, JSAtom prop)
{
    char buf[ATOM_GET_STR_BUF_SIZE];
    const char *of = JS_IsNull(obj) ? "null" : "undefined", *name = JS_AtomGetStr(ctx, buf, sizeof(buf), prop);
    if (prop == JS_ATOM_Symbol_iterator)
        return JS_ThrowTypeError(ctx, "%s is not iterable (cannot read property Symbol(Symbol.iterator))", of);
    if (JS_AtomIsArrayIndex(ctx, &(uint32_t){ 0 }, prop) || !JS_AtomSymbolHasDescription(ctx, prop))
        return JS_ThrowTypeError(ctx, "Cannot %s properties of %s (%s '%s')", verb, of, verbing, name);
    return JS_ThrowTypeError(ctx, "Cannot %s properties of %s (%s 'Symbol(%s)')", verb, of, verbing, name);
}

static no_inline JSValue JS_ThrowTypeErrorNotIterable(JSContext *ctx, JSValueConst obj)
{
    CallSite site = { 0 };
    char text[SITE_TEXT];
    if (site_find(&site, ctx, text)) {
        uint8_t op = site.b->byte_code_buf[site.at[site.count - 1]];
        if (op == OP_for_of_start || op == OP_for_await_of_start || op == OP_append) {
            site_render_initial(&site);
            if (site.length > 5 && !strcmp(text + site.length - 5, "(...)")) {
                text[site.length - 5] = '\0';
                return JS_ThrowTypeError(ctx, "%s is not a function or its return value is not iterable", text);
            }
            if (strcmp(text, "(intermediate value)"))
                return JS_ThrowTypeError(ctx, op == OP_for_await_of_start ? "%s is not async iterable" : "%s is not iterable", text);
        }
    }
    return JS_ThrowTypeError(ctx, "%s is not iterable (cannot read property Symbol(Symbol.iterator))", site_kind(ctx, obj, text));
}

/* `{ a } = x` where x is null or undefined */
static no_inline JSValue JS_ThrowTypeErrorDestructured(JSContext *ctx, JSValueConst val)
{
    CallSite site = { 0 };
    char text[SITE_TEXT], buf[ATOM_GET_STR_BUF_SIZE];
    const char *of = JS_IsNull(val) ? "null" : "undefined", *name = NULL;
    const uint8_t *code;
    int at;
    if (!site_find(&site, ctx, text))
        return JS_ThrowTypeError(ctx, "Cannot convert undefined or null to object");
    code = site.b->byte_code_buf;
    at = site.at[site.count - 1] + 1;
    if (at < site.b->byte_code_len && code[at] == OP_dup)
        at++;
    if (at < site.b->byte_code_len && (code[at] == OP_get_field || code[at] == OP_get_field2))
        name = JS_AtomGetStr(ctx, buf, sizeof(buf), get_u32(code + at + 1));
    /* of a pattern within a pattern */
    if (name && site.count > 1 && (code[site.at[site.count - 2]] == OP_get_field2 || code[site.at[site.count - 2]] == OP_get_field))
        return JS_ThrowTypeErrorOfProperty(ctx, "read", "reading", val, get_u32(code + at + 1));
    site_render_initial(&site);
    if (!strcmp(text, "(intermediate value)") || !*text || !strcmp(text, "<null>"))
        snprintf(text, sizeof(text), "%s", of);
    if (name)
        return JS_ThrowTypeError(ctx, "Cannot destructure property '%s' of '%s' as it is %s.", name, text, of);
    return JS_ThrowTypeError(ctx, "Cannot destructure '%s' as it is %s.", text, of);
}

static no_inline JSValue JS_ThrowTypeErrorOfValue(JSContext *ctx, const char *fmt, JSValueConst val)
{
    char text[SITE_TEXT];
    return JS_ThrowTypeError(ctx, fmt, site_value(ctx, val, text));
}

static no_inline const char *site_value(JSContext *ctx, JSValueConst val, char *text)
{
    CallSite site = { 0 };
    site.ctx = ctx;
    site.text = text;
    site.length = 0;
    *text = '\0';
    site_add_value(&site, val);
    return text;
}

static no_inline int JS_ThrowTypeErrorNotExtensible(JSContext *ctx, int flags, JSAtom prop)
{
    char buf[ATOM_GET_STR_BUF_SIZE];
    return JS_ThrowTypeErrorOrFalse(ctx, flags, "Cannot add property %s, object is not extensible", JS_AtomGetStr(ctx, buf, sizeof(buf), prop));
}

static no_inline int JS_ThrowTypeErrorNotConfigurable(JSContext *ctx, int flags, JSAtom prop)
{
    char buf[ATOM_GET_STR_BUF_SIZE];
    return JS_ThrowTypeErrorOrFalse(ctx, flags, "Cannot redefine property: %s", JS_AtomGetStr(ctx, buf, sizeof(buf), prop));
}

static no_inline int JS_ThrowTypeErrorNotAnObjectFor(JSContext *ctx, int flags, JSAtom prop, JSValueConst val)
{
    char text[SITE_TEXT], buf[ATOM_GET_STR_BUF_SIZE];
    return JS_ThrowTypeErrorOrFalse(ctx, flags, "Cannot create property '%s' on %s", JS_AtomGetStr(ctx, buf, sizeof(buf), prop),
                                    site_kind(ctx, val, text));
}

/* A showing of a value, in which a text has no quotes. */
static const char *site_plain(JSContext *ctx, JSValueConst val, char *text)
{
    site_value(ctx, val, text);
    if (*text != '"')
        return text;
    text[strlen(text) - 1] = '\0';
    return text + 1;
}

static no_inline void JS_ThrowTypeErrorOfClass(JSContext *ctx, JSValueConst func)
{
    char text[SITE_TEXT];
    JSPropertyDescriptor desc;
    const char *name = "";
    if (JS_GetOwnProperty(ctx, &desc, func, JS_ATOM_name) > 0) {
        if (JS_IsString(desc.value))
            name = site_plain(ctx, desc.value, text);
        JS_FreeValue(ctx, desc.value);
        JS_FreeValue(ctx, desc.getter);
        JS_FreeValue(ctx, desc.setter);
    }
    JS_ThrowTypeError(ctx, "Class constructor %s cannot be invoked without 'new'", name);
}

static no_inline void JS_ThrowTypeErrorOfIn(JSContext *ctx, JSValueConst key, JSValueConst val)
{
    char text[SITE_TEXT], name[SITE_TEXT];
    JS_ThrowTypeError(ctx, "Cannot use 'in' operator to search for '%s' in %s", site_plain(ctx, key, name), site_plain(ctx, val, text));
}

int JS_PRINTF_FORMAT_ATTR(2, 3) js_parse_error(JSParseState *s, JS_PRINTF_FORMAT const char *fmt, ...);

/* What JSON does not begin with, or go on with, at a place of its text. */
static no_inline int json_unexpected(JSParseState *s, const uint8_t *at)
{
    enum { AROUND = 10 };
    const uint8_t *start = s->buf_start, *end = s->buf_end, *from, *to, *next;
    int before = 0, after = 0, length, i;
    const char *word = *at == 't' ? "true" : *at == 'f' ? "false" : *at == 'n' ? "null" : "";
    /* a word is compared letter by letter */
    for (i = 0; word[i] && at < end && *at == (uint8_t)word[i]; i++)
        at++;
    if (at >= end)
        return js_parse_error(s, "Unexpected end of JSON input");
    if (at == start || !strcmp((const char *)start, "[object Object]")) {
        const char *text = (const char *)start;
        if (!strcmp(text, "undefined") || !strcmp(text, "NaN") || !strcmp(text, "Infinity") || !strcmp(text, "[object Object]"))
            return js_parse_error(s, "\"%s\" is not valid JSON", text);
    }
    next = at + 1;
    while (next < end && (*next & 0xc0) == 0x80)
        next++;
    if (end - start <= 2 * AROUND) {
        from = start;
        to = end;
    } else {
        for (from = at; from > start && before < AROUND; before++)
            while (--from > start && (*from & 0xc0) == 0x80)
                ;
        for (to = at; to < end && after < AROUND; after++)
            while (++to < end && (*to & 0xc0) == 0x80)
                ;
    }
    length = to - from;
    return js_parse_error(s, "Unexpected token '%.*s', %s\"%.*s\"%s is not valid JSON", (int)(next - at), (const char *)at,
                          from > start ? "..." : "", length, (const char *)from, to < end ? "..." : "");
}

static void json_add_constructor(CallSite *site, JSValueConst obj)
{
    JSContext *ctx = site->ctx;
    JSValue ctor = JS_GetProperty(ctx, obj, JS_ATOM_constructor), name = JS_UNDEFINED;
    const char *text = NULL;
    if (JS_IsObject(ctor))
        name = JS_GetProperty(ctx, ctor, JS_ATOM_name);
    if (JS_IsString(name))
        text = JS_ToCString(ctx, name);
    if (JS_HasException(ctx))
        JS_FreeValue(ctx, JS_GetException(ctx));
    site_add(site, "object with constructor '");
    site_add(site, text ? text : "Object");
    site_add(site, "'");
    JS_FreeCString(ctx, text);
    JS_FreeValue(ctx, name);
    JS_FreeValue(ctx, ctor);
}

/* The member of an object that is the other. */
static void json_add_member(CallSite *site, JSValueConst obj, JSValueConst member)
{
    JSContext *ctx = site->ctx;
    JSPropertyEnum *names;
    JSPropertyDescriptor desc;
    uint32_t count, i;
    int found = 0;
    if (JS_GetOwnPropertyNames(ctx, &names, &count, obj, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY))
        return JS_FreeValue(ctx, JS_GetException(ctx));
    for (i = 0; i < count && !found; i++) {
        if (JS_GetOwnProperty(ctx, &desc, obj, names[i].atom) <= 0)
            continue;
        found = JS_IsObject(desc.value) && JS_VALUE_GET_OBJ(desc.value) == JS_VALUE_GET_OBJ(member);
        if (found) {
            site_add(site, JS_IsArray(obj) ? "index " : "property '");
            site_add_atom(site, names[i].atom);
            site_add(site, JS_IsArray(obj) ? "" : "'");
        }
        JS_FreeValue(ctx, desc.value);
        JS_FreeValue(ctx, desc.getter);
        JS_FreeValue(ctx, desc.setter);
    }
    if (!found)
        site_add(site, "a member");
    JS_FreePropertyEnum(ctx, names, count);
}

/* What an object of JSON contains itself by. `stack` has the objects around it. */
static no_inline void json_throw_circular(JSContext *ctx, JSValueConst stack, JSValueConst val)
{
    char text[SITE_TEXT * 4];
    CallSite site = { .ctx = ctx, .limit = SITE_TEXT * 4 };
    JSValue outer = JS_UNDEFINED, inner;
    int64_t count, i, first = -1;
    text[0] = '\0';
    site.text = text;
    if (js_get_length64(ctx, &count, stack))
        return;
    for (i = 0; i < count; i++) {
        inner = JS_GetPropertyInt64(ctx, stack, i);
        if (first < 0) {
            if (JS_IsObject(inner) && JS_VALUE_GET_OBJ(inner) == JS_VALUE_GET_OBJ(val)) {
                first = i;
                site_add(&site, "\n    --> starting at ");
                json_add_constructor(&site, inner);
            }
        } else if (i - first <= 2 || i == count - 1) {
            site_add(&site, "\n    |     ");
            json_add_member(&site, outer, inner);
            site_add(&site, " -> ");
            json_add_constructor(&site, inner);
        } else if (i - first == 3) {
            site_add(&site, "\n    |     ...");
        }
        JS_FreeValue(ctx, outer);
        outer = inner;
    }
    site_add(&site, "\n    --- ");
    json_add_member(&site, outer, val);
    site_add(&site, " closes the circle");
    JS_FreeValue(ctx, outer);
    JS_ThrowTypeError(ctx, "Converting circular structure to JSON%s", text);
}
