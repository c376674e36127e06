/** Loaded at its first use: it takes as long as the rest of the management API. */
export const webauthn = () => import('@simplewebauthn/server')

/** EdDSA, ES256, RS256: between them, every authenticator (COSE's numbers). */
export const ALGORITHMS = [-8, -7, -257]
