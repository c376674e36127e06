import { createHash, createHmac } from 'node:crypto'
import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import { ratioOf } from './sizes-of-videos.ts'
import {
  accepted,
  causesByCode,
  choose,
  countOf,
  dataUrl,
  defined,
  HOUR_MS,
  providerTextOf,
  refused,
  statusesByName,
  type VideoVendor,
} from './video-vendor.ts'

const SUCCESS = 10_000
const VERSION = 'Version=2022-08-31'
const FRAMES_PER_SECOND = 24

const statusOf = statusesByName({
  in_queue: 'QUEUED',
  generating: 'IN_PROGRESS',
  done: 'SUCCESS',
  not_found: 'FAILURE',
  expired: 'FAILURE',
})

/**
 * The causes of Jimeng's error codes. 50400 to 50402 mean that the account was refused. 50429 and
 * 50430 mean that the account reached a limit.
 */
const causeOf = causesByCode({
  account: [50_400, 50_401, 50_402],
  limit: [50_429, 50_430],
  provider: [50_500, 50_501],
})

/**
 * The causes of the error codes of Volcengine's gateway (volcengine.com/docs/6369/68677), which can
 * refuse a request before Jimeng receives it.
 */
const causeAtGateway = causesByCode({
  key: [
    ...['MissingAuthenticationToken', 'InvalidAccessKey', 'SignatureDoesNotMatch'],
    ...['InvalidSecretToken', 'InvalidAuthorization', 'InvalidCredential'],
  ],
  account: ['AccessDenied', 'LackPolicy'],
  limit: ['FlowLimitExceeded'],
  provider: ['InternalError', 'InternalServiceError', 'InternalServiceTimeout'],
})

/**
 * The vendor Jimeng (volcengine.com/docs/85621). Its API names the model in the member `req_key`.
 */
export const JIMENG: VideoVendor = {
  platform: 'jimeng',
  imagesMax: 8,
  takesLastImage: true,
  fileMs: HOUR_MS,
  media: ({ seconds }, model) => ({
    seconds: choose('seconds', seconds, [5, 10]),
    resolution: /1080|pro/.test(model) ? '1080p' : '720p',
    options: [],
  }),
  submit: (request, { seconds }, { model }) => {
    const images = [...request.images, ...(request.lastImage === null ? [] : [request.lastImage])]
    const inline = images.flatMap((image) => dataUrl(image)?.data ?? [])
    const addresses = images.filter((image) => dataUrl(image) === null)
    return {
      method: 'POST',
      path: `/?Action=CVSync2AsyncSubmitTask&${VERSION}`,
      body: defined({
        req_key: model,
        prompt: request.prompt,
        seed: request.seed,
        frames: FRAMES_PER_SECOND * seconds + 1,
        aspect_ratio: ratioOf(request),
        binary_data_base64: inline.length === 0 ? null : inline,
        image_urls: addresses.length === 0 ? null : addresses,
      }),
    }
  },
  readSubmitted: ({ code, message, data, ResponseMetadata: metadata }, { body }) => {
    const number = countOf(code)
    if (number === null) {
      const { Code: name, Message: words } = objectOrEmpty(objectOrEmpty(metadata).Error)
      return refused(null, words, causeAtGateway(name))
    }
    if (number !== SUCCESS) return refused(number, message, causeOf(number))
    const { req_key: model } = body as { readonly req_key: string }
    return accepted(objectOrEmpty(data).task_id, `${model}/`)
  },
  query: (upstreamId) => {
    const [model, id] = upstreamId.split('/')
    return {
      method: 'POST',
      path: `/?Action=CVSync2AsyncGetResult&${VERSION}`,
      body: { req_key: model, task_id: id },
    }
  },
  readReport: ({ code, message, data }) => {
    const task = objectOrEmpty(data)
    const number = countOf(code)
    if (number === null) return null
    // These codes mean that a content review has refused the result. Any other error may be
    // temporary.
    if (/^50(?:41[1-3]|51[1-36-9]|52[0-2])$/.test(String(number))) {
      return { status: 'FAILURE', failReason: providerTextOf(message) }
    }
    const status = statusOf(task.status)
    if (number !== SUCCESS || status === undefined) return null
    const isMissing = task.status === 'not_found'
    const failReason = providerTextOf(task.status)
    return { status, file: providerTextOf(task.video_url), failReason, isMissing }
  },
  source: (_id, url) => ({ kind: 'address', url }),
  sign: (key, request, nowMs) => volcengineHeaders(key, request, nowMs),
}

const REGION = 'cn-north-1'
const SERVICE = 'cv'
const hash = (data: Buffer | string) => createHash('sha256').update(data).digest('hex')
const mac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest()

/**
 * Returns the headers that authenticate a request, with the signature that Volcengine requires
 * (volcengine.com/docs/6369/67269). A key without `|` is a token for another gateway, and is sent
 * as it is.
 */
export function volcengineHeaders(
  key: string,
  { url, method, body }: { readonly url: URL; readonly method: string; readonly body: Buffer },
  nowMs: number,
): Readonly<Record<string, string>> {
  const [access = '', secret] = key.split('|').map((part) => part.trim())
  if (secret === undefined) return { authorization: `Bearer ${key}` }
  const date = new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const day = date.slice(0, 8)
  const contentHash = hash(body)
  const signed = {
    'content-type': 'application/json',
    host: url.host,
    'x-content-sha256': contentHash,
    'x-date': date,
  }
  const query = [...url.searchParams].map((pair) => pair.map(encodeURIComponent).join('='))
  const canonical = [
    ...[method, url.pathname, query.toSorted().join('&')],
    ...Object.entries(signed).map(([name, value]) => `${name}:${value}`),
    ...['', Object.keys(signed).join(';'), contentHash],
  ].join('\n')
  const scope = `${day}/${REGION}/${SERVICE}/request`
  const signingKey = [REGION, SERVICE, 'request'].reduce(mac, mac(secret, day))
  const text = ['HMAC-SHA256', date, scope, hash(canonical)].join('\n')
  const credential = `Credential=${access}/${scope}`
  const names = `SignedHeaders=${Object.keys(signed).join(';')}`
  const signature = `Signature=${mac(signingKey, text).toString('hex')}`
  return {
    'x-date': date,
    'x-content-sha256': contentHash,
    authorization: `HMAC-SHA256 ${credential}, ${names}, ${signature}`,
  }
}
