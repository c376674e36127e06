import { describe, expect, it } from 'vitest'
import { ANTHROPIC_BATCHES } from '#relay/batches/anthropic-batches.ts'
import { GEMINI_BATCHES } from '#relay/batches/gemini-batches.ts'
import { OPENAI_BATCHES } from '#relay/batches/openai-batches.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import {
  isVendorError,
  providerErrorCodes,
  providerErrorMeaning,
} from '#relay/canonical/read-provider-error-body.ts'
import { BAIDU_V1 } from '#relay/providers/proprietary-chat-apis/baidu-v1.ts'
import { COHERE } from '#relay/providers/proprietary-chat-apis/cohere.ts'
import { COZE } from '#relay/providers/proprietary-chat-apis/coze.ts'
import { DIFY } from '#relay/providers/proprietary-chat-apis/dify.ts'
import { REPLICATE } from '#relay/providers/proprietary-chat-apis/replicate.ts'
import { TENCENT } from '#relay/providers/proprietary-chat-apis/tencent.ts'
import { XUNFEI } from '#relay/providers/proprietary-chat-apis/xunfei.ts'
import { ZHIPU_V3 } from '#relay/providers/proprietary-chat-apis/zhipu-v3.ts'
import { drawingSubmitAnswer, musicSubmitAnswer } from '#relay/tasks/read-provider-task-answers.ts'
import { VIDEO_VENDORS } from '#relay/tasks/videos/select-channels-and-build-video-request.ts'
import type { VendorCall } from '#relay/tasks/videos/video-vendor.ts'

/** `String` and `Number` throw a TypeError for this object. */
const HOSTILE = { toString: 1, valueOf: 1 }
const NAMES = [
  ...['id', 'name', 'model', 'status', 'state', 'code', 'type', 'message', 'error', 'data'],
  ...[
    'detail',
    'loc',
    'msg',
    'reason',
    'err_code',
    'error_code',
    'error_msg',
    'error_description',
    'success',
  ],
  ...['task_id', 'task_status', 'task_status_msg', 'output', 'usage', 'result', 'response', 'done'],
  ...['header', 'base_resp', 'status_code', 'status_msg', 'Response', 'Error', 'ErrorMsg', 'Code'],
  ...['Msg', 'Message', 'metadata', 'batchStats', 'requestCount', 'processing_status', 'duration'],
  ...['statusText', 'object'],
  ...['request_counts', 'errors', 'custom_id', 'key', 'content', 'videos', 'creations', 'progress'],
  ...['choices', 'payload', 'text', 'seconds', 'event', 'answer', 'prompt_tokens', 'description'],
]
const all = (value: unknown): Record<string, unknown> =>
  Object.fromEntries(NAMES.map((name) => [name, value]))
/** Answers in which each member, or each member of each member, is a hostile or unusual value. */
const ANSWERS = [HOSTILE, [HOSTILE], [[HOSTILE]], 'constructor', '__proto__', true].flatMap(
  (value) => {
    const inner = all(value)
    const outer = [inner, all(inner), all([inner]), all(all(inner))]
    const single = NAMES.flatMap((name) => [{ ...all('1'), [name]: value }, { [name]: inner }])
    return [...outer, ...single]
  },
)
const bytesOf = (value: object): Buffer => Buffer.from(JSON.stringify(value))
const CALL = { method: 'POST', path: '/v1/videos/text2video' } as unknown as VendorCall

describe('a provider’s answer with values that can not be converted to texts', () => {
  it.each(Object.entries(VIDEO_VENDORS))('is read by the video vendor %s', (_name, vendor) => {
    for (const answer of ANSWERS) {
      vendor.readSubmitted(answer, CALL)
      const report = vendor.readReport(answer)
      expect(['object', 'string']).toContain(typeof (report?.status ?? null))
    }
  })

  it('is read as the answer to a drawing and to music', () => {
    for (const answer of ANSWERS) {
      for (const isFollowUp of [false, true]) drawingSubmitAnswer(bytesOf(answer), { isFollowUp })
      musicSubmitAnswer(bytesOf(answer))
    }
  })

  it.each(Object.entries({ BAIDU_V1, COHERE, COZE, DIFY, REPLICATE, TENCENT, XUNFEI, ZHIPU_V3 }))(
    'is read as an error of %s',
    (_name, { readError }) => {
      for (const answer of ANSWERS) {
        for (const status of [200, 400, 500]) readError(answer, status)
      }
    },
  )

  it.each(Object.entries({ ANTHROPIC_BATCHES, GEMINI_BATCHES, OPENAI_BATCHES }))(
    'is read as a batch of %s',
    (_name, protocol) => {
      for (const answer of ANSWERS) {
        protocol.readDescription(bytesOf(answer), [])
        protocol.readId(bytesOf(answer))
        protocol.readResult(JSON.stringify(answer), 0)
      }
    },
  )

  it('is read as an error', () => {
    for (const answer of ANSWERS) {
      providerErrorCodes(bytesOf(answer))
      isVendorError(answer as JsonObject)
      providerErrorMeaning(bytesOf(answer), 422)
    }
  })
})
