let number = 0;
export default () => ({ number: (number += 1) });
