import CryptoJS from "crypto-js";

export default function () {
  const key = CryptoJS.enc.Hex.parse("000102030405060708090a0b0c0d0e0f");
  const iv = CryptoJS.enc.Hex.parse("101112131415161718191a1b1c1d1e1f");
  const box = CryptoJS.AES.encrypt("Grüße", key, { iv }).toString();
  const passphrase = CryptoJS.AES.encrypt("hidden", "p").toString();
  return [
    ["MD5", "SHA1", "SHA256", "SHA512", "SHA3", "RIPEMD160"].map(name => CryptoJS[name]("é").toString()), CryptoJS.HmacSHA256("a", "k").toString(CryptoJS.enc.Base64), box, CryptoJS.AES.decrypt(box, key, { iv }).toString(CryptoJS.enc.Utf8), CryptoJS.PBKDF2("p", "s", { keySize: 8, iterations: 2 }).toString(),
    CryptoJS.AES.decrypt(passphrase, "p").toString(CryptoJS.enc.Utf8), CryptoJS.enc.Utf8.parse("ä").sigBytes, CryptoJS.lib.WordArray.random(16).sigBytes,
  ];
}
