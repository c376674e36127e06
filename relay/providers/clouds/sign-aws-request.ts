import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'

export type AwsCredentials = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** The session token of temporary credentials. */
  readonly sessionToken?: string
}

/**
 * Node's SHA-256 with the interface that the AWS signer expects. With a secret, it computes an
 * HMAC.
 */
class Sha256 {
  private readonly hash: Hash | Hmac

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret))
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.hash.update(bytesOf(data))
  }

  async digest(): Promise<Uint8Array> {
    return this.hash.digest()
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): string | Uint8Array {
  if (typeof data === 'string') return data
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}

type AwsRequest = {
  readonly method: string
  readonly origin: string
  /** The encoded path, including the query. */
  readonly path: string
  /** The headers to sign, with names in lower case. `host` is added to them. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Returns the headers of a request, with the signature for the time `at`. */
export type SignRequest = (request: AwsRequest, at: Date) => Promise<Record<string, string>>

/**
 * Creates a function that returns a request's headers including AWS' signature, version 4. The
 * signing key of each day is computed only once. No network is used.
 */
export function awsSigner(
  credentials: AwsCredentials,
  region: string,
  service: string,
): SignRequest {
  const signer = new SignatureV4({
    credentials,
    region,
    service,
    sha256: Sha256,
    applyChecksum: false,
  })
  return async ({ method, origin, path, headers, body }, at) => {
    const { protocol, host, hostname, port, pathname, searchParams } = new URL(path, origin)
    const signed = await signer.sign(
      {
        method,
        protocol,
        hostname,
        ...(port === '' ? {} : { port: Number(port) }),
        path: pathname,
        query: Object.fromEntries(searchParams),
        headers: { ...headers, host },
        body,
      },
      { signingDate: at },
    )
    return signed.headers
  }
}
