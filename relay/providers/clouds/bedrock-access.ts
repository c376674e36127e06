import {
  BETA_HEADER,
  betasIn,
  headerIn,
  isVisibleText,
  withoutHeaders,
} from '#relay/providers/header-list.ts'
import {
  MODEL_PLACEHOLDER,
  type OpenCloud,
  type ProviderCall,
  type StreamDecoder,
} from '#relay/providers/provider-access-and-decoder-types.ts'
import { anthropicErrorBody } from './aws-errors-as-anthropic-errors.ts'
import { bedrockModelId } from './bedrock-model-id.ts'
import type { AwsCredentials, SignRequest } from './sign-aws-request.ts'

/**
 * How the request bodies of Bedrock's `InvokeModel` differ from those of Anthropic's Messages API.
 */
export const BEDROCK_ENVELOPE = {
  removed: new Set(['model', 'stream', 'anthropic_version']),
  added: new Map([['anthropic_version', '"bedrock-2023-05-31"']]),
}

type BedrockKey = {
  readonly region: string
  readonly secrets: readonly string[]
  /** The credentials that sign requests. Null if the key is an API key, which is sent unchanged. */
  readonly credentials: AwsCredentials | null
}

/**
 * Reads a key. Its form is `access key|secret|region`, `access key|secret|region|session token`, or
 * `API key|region`. Returns null if the key is malformed.
 */
function readKey(text: string): BedrockKey | null {
  const parts = text.split('|').map((part) => part.trim())
  const [first = '', second = '', third = '', sessionToken = ''] = parts
  const isApiKey = parts.length === 2
  const region = isApiKey ? second : third
  const secrets = isApiKey ? [first] : parts.filter((_, index) => index !== 2)
  const isRight = parts.length >= 2 && parts.length <= 4 && secrets.every(isVisibleText)
  if (!isRight || !/^[a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}$/.test(region)) return null
  if (isApiKey) return { region, secrets, credentials: null }
  const credentials = {
    accessKeyId: first,
    secretAccessKey: second,
    ...(parts.length === 4 ? { sessionToken } : {}),
  }
  return { region, secrets, credentials }
}

/**
 * Matches the betas that Bedrock documents. Other betas are left out, because clients send the same
 * betas to all providers, and Bedrock refuses a call with an unknown one.
 */
const KNOWN_BETA =
  /^(?:compact|computer-use|context-management|dev-full-thinking|effort|interleaved-thinking|output-128k|structured-outputs|token-efficient-tools|tool-examples|tool-search-tool)-\d/

const takesBeta = (beta: string): boolean => KNOWN_BETA.test(beta)

/**
 * Returns a call without the headers of Anthropic's API. The betas that Bedrock knows are moved
 * from their header to the body, where Bedrock reads them.
 */
function withBetasInBody({ headers, body, ...call }: ProviderCall): ProviderCall {
  const betas = betasIn(headerIn(headers, BETA_HEADER)).filter(takesBeta)
  const rest = withoutHeaders(headers, (name) => name.startsWith('anthropic-'))
  if (betas.length === 0) return { ...call, headers: rest, body }
  // The body is an object with at least one member, because Bedrock's envelope adds one.
  const start = body.indexOf('{') + 1
  const member = Buffer.from(`"anthropic_beta":${JSON.stringify(betas)},`)
  const parts = [body.subarray(0, start), member, body.subarray(start)]
  return { ...call, headers: rest, body: Buffer.concat(parts) }
}

const SIGNED_HEADERS = ['authorization', 'x-amz-date', 'x-amz-security-token']

async function signed(call: ProviderCall, sign: SignRequest): Promise<ProviderCall> {
  const { headers, ...request } = call
  const type = { 'content-type': headerIn(headers, 'content-type') }
  const added = await sign({ ...request, method: 'POST', headers: type }, new Date())
  const pairs = SIGNED_HEADERS.flatMap((name) =>
    added[name] === undefined ? [] : [name, added[name]],
  )
  return { ...call, headers: [...headers, ...pairs] }
}

type AwsProtocol = {
  readonly sign: SignRequest | null
  readonly createStream: () => StreamDecoder
}

/**
 * Loads the libraries for AWS protocols. The libraries are loaded only when needed, so that
 * installations that never call Bedrock start faster.
 */
async function loadProtocol({ credentials, region }: BedrockKey): Promise<AwsProtocol> {
  const [{ awsSigner }, { AwsEventStreamDecoder }] = await Promise.all([
    import('./sign-aws-request.ts'),
    import('./aws-event-stream-decoder.ts'),
  ])
  return {
    sign: credentials === null ? null : awsSigner(credentials, region, 'bedrock'),
    createStream: () => new AwsEventStreamDecoder(),
  }
}

/**
 * Returns the access to Anthropic's models on Amazon Bedrock (address, authorization and decoder)
 * in the region that the key contains, or null if the key is malformed.
 */
export const openBedrock: OpenCloud = ({ key }) => {
  const credentials = readKey(key)
  if (credentials === null) return null
  const { region, secrets } = credentials
  const baseUrl = `https://bedrock-runtime.${region}.amazonaws.com`
  let protocol: AwsProtocol | null = null
  return {
    baseUrlFor: () => baseUrl,
    fillPath: (path, model) =>
      path.replace(MODEL_PLACEHOLDER, () => encodeURIComponent(bedrockModelId(model, region))),
    authorize: async (call) => {
      protocol ??= await loadProtocol(credentials)
      const moved = withBetasInBody(call)
      if (protocol.sign !== null) return signed(moved, protocol.sign)
      const [apiKey = ''] = secrets
      return { ...moved, headers: [...moved.headers, 'authorization', `Bearer ${apiKey}`] }
    },
    takesBeta,
    dropCredentials: () => {},
    confidential: () => [...secrets, region, new URL(baseUrl).host],
    decoder: {
      mediaType: 'application/vnd.amazon.eventstream',
      createStream: () => {
        if (protocol === null) throw new Error('a call was answered before it was authorized')
        return protocol.createStream()
      },
      errorBody: (body, headers) => anthropicErrorBody(body, headers['x-amzn-errortype']),
    },
  }
}
