import { error } from 'millrace';
export default () => error("the factory's own secret words");
