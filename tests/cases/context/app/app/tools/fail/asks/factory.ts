import { requireInput, elicit } from 'millrace';
export default () => requireInput({ q: elicit('?') });
