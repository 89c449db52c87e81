"""PyJWT with `cryptography`, for the test of tokens. Reads a line with keys and then tokens, and says of each whether it is good. Then it
writes its own key set, and as many tokens of its own, each after `good` or `bad` and its algorithm."""
import json, random, sys
import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

NAMES = {"RS": "rsa", "PS": "rsa", "ES256": "p256", "ES384": "p384", "EdDSA": "ed"}
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA", "HS256", "HS384", "HS512"]
key_name = lambda name: NAMES.get(name) or NAMES.get(name[:2])
head, *tokens = sys.stdin.read().split("\n")
head = json.loads(head)
theirs = {name: jwt.PyJWK.from_dict({**key, **({"alg": "RS256"} if name == "rsa" else {})}).key for name, key in head["keys"].items()}
out = []
for token in tokens:
    name = jwt.get_unverified_header(token)["alg"]
    key = head["secret"] if name.startswith("HS") else theirs[key_name(name)]
    try:
        jwt.decode(token, key, algorithms=[name], audience="api", issuer=head["issuer"])
        out.append("good")
    except jwt.InvalidTokenError:
        out.append("bad")
own = {"rsa": rsa.generate_private_key(65537, 2048), "p256": ec.generate_private_key(ec.SECP256R1()), "p384": ec.generate_private_key(ec.SECP384R1()), "ed": ed25519.Ed25519PrivateKey.generate()}
writers = {"rsa": jwt.algorithms.RSAAlgorithm, "p256": jwt.algorithms.ECAlgorithm, "p384": jwt.algorithms.ECAlgorithm, "ed": jwt.algorithms.OKPAlgorithm}
public = [{**json.loads(writers[name].to_jwk(key.public_key())), "kid": name} for name, key in own.items()]
for key in public:
    key.pop("key_ops", None)
out.append(json.dumps({"keys": public}))
for number in range(head["each"]):
    name = ALGORITHMS[number % len(ALGORITHMS)]
    claims = {"iss": head["issuer"], "aud": random.choice(["api", ["x", "api"]]), "sub": "u%d" % number, "exp": 4_000_000_000 + random.random(), "text": "é\"\\😀" * (number % 5), "deep": {"a": [1, {"b": None}]}}
    key = head["secret"] if name.startswith("HS") else own[key_name(name)]
    token = jwt.encode(claims, key, algorithm=name, headers={} if name.startswith("HS") else {"kid": key_name(name)})
    word = "good"
    if number % 10 == 3:
        word, (first, claims, signature) = "bad", token.split(".")
        at = random.randrange(len(claims) - 2)
        other = random.choice([letter for letter in "ABCDEFGHabcdefgh01234567" if letter != claims[at]])
        token = ".".join([first, claims[:at] + other + claims[at + 1 :], signature])
    out.append(f"{word}-{name} {token}")
print("\n".join(out))
