// From tslib 2.9.1, Copyright Microsoft Corporation, 0BSD.
export default function (x) {
    return typeof x === "symbol" ? x : "".concat(x);
}
