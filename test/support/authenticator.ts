import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

type Options = {
  readonly challenge: string
  readonly rp?: { readonly id?: string }
  readonly rpId?: string
  readonly user?: { readonly id: string }
}

type Choices = {
  readonly origin: string
  readonly counter?: number
  /** True if the user verified their identity to the authenticator, for example by a PIN. */
  readonly isUnlocked?: boolean
}

/** A software authenticator with one passkey: ES256, attestation "none" (WebAuthn level 3). */
export function createAuthenticator() {
  const id = randomBytes(32)
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  let userHandle = ''
  const shared = {
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key' as const,
    clientExtensionResults: {},
  }
  return {
    id: shared.id,
    /** Returns what `navigator.credentials.create` would return. */
    make: (options: Options, { origin, counter = 0, isUnlocked = true }: Choices) => {
      userHandle = options.user?.id ?? ''
      const attested = Buffer.concat([
        Buffer.alloc(16),
        Buffer.from([0, id.length]),
        id,
        coseKey(publicKey),
      ])
      const data = authData(options.rp?.id ?? '', 0x41 | (isUnlocked ? 4 : 0), counter, attested)
      return {
        ...shared,
        response: {
          clientDataJSON: clientData('webauthn.create', options.challenge, origin).base64,
          attestationObject: attestationObject(data).toString('base64url'),
          transports: ['internal'],
        },
      }
    },
    /** Returns what `navigator.credentials.get` would return. */
    show: (options: Options, { origin, counter = 0, isUnlocked = true }: Choices) => {
      const data = authData(options.rpId ?? '', 0x01 | (isUnlocked ? 4 : 0), counter)
      const client = clientData('webauthn.get', options.challenge, origin)
      const signature = sign('sha256', Buffer.concat([data, client.hash]), privateKey)
      return {
        ...shared,
        response: {
          clientDataJSON: client.base64,
          authenticatorData: data.toString('base64url'),
          signature: signature.toString('base64url'),
          userHandle,
        },
      }
    },
  }
}

function clientData(type: string, challenge: string, origin: string) {
  const text = JSON.stringify({ type, challenge, origin, crossOrigin: false })
  const hash = createHash('sha256').update(text).digest()
  return { base64: Buffer.from(text).toString('base64url'), hash }
}

function authData(site: string, flags: number, counter: number, attested = Buffer.alloc(0)) {
  const count = Buffer.alloc(4)
  count.writeUInt32BE(counter)
  const siteHash = createHash('sha256').update(site).digest()
  return Buffer.concat([siteHash, Buffer.from([flags]), count, attested])
}

/** CBOR: `{1: 2, 3: -7, -1: 1, -2: x, -3: y}`. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  return Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
    Buffer.from(x, 'base64url'),
    Buffer.from([0x22, 0x58, 0x20]),
    Buffer.from(y, 'base64url'),
  ])
}

/** CBOR: `{fmt: "none", attStmt: {}, authData}`. */
const attestationObject = (data: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from([0xa3, 0x63]),
    Buffer.from('fmt'),
    Buffer.from([0x64]),
    Buffer.from('none'),
    Buffer.from([0x67]),
    Buffer.from('attStmt'),
    Buffer.from([0xa0, 0x68]),
    Buffer.from('authData'),
    Buffer.from([0x59, data.length >> 8, data.length & 0xff]),
    data,
  ])
