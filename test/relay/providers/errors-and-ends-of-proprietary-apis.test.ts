import { describe, expect, it } from 'vitest'
import { BAIDU_V1 } from '#relay/providers/proprietary-chat-apis/baidu-v1.ts'
import { COHERE } from '#relay/providers/proprietary-chat-apis/cohere.ts'
import { COZE } from '#relay/providers/proprietary-chat-apis/coze.ts'
import { TENCENT } from '#relay/providers/proprietary-chat-apis/tencent.ts'
import { XUNFEI } from '#relay/providers/proprietary-chat-apis/xunfei.ts'
import { ZHIPU_V3 } from '#relay/providers/proprietary-chat-apis/zhipu-v3.ts'

it.each([
  ['FailedOperation.ServiceStopArrears', 'insufficient_quota'],
  ['FailedOperation.FreeResourcePackExhausted', 'insufficient_quota'],
  ['ResourceUnavailable.InArrears', 'insufficient_quota'],
  ['AuthFailure.SecretIdNotFound', 'invalid_api_key'],
  ['FailedOperation.EngineServerError', 'FailedOperation.EngineServerError'],
  ['OperationDenied.TextIllegalDetected', 'OperationDenied.TextIllegalDetected'],
])('Tencent’s error %s is %s', (Code, type) => {
  const body = { Response: { Error: { Code, Message: 'x' } } }
  expect(TENCENT.readError(body, 200)).toMatchObject({ type, message: 'x' })
})

/** Codes for a prompt that is too long or sensitive, and other codes that a prompt can't cause. */
it.each([
  [
    'Zhipu',
    ZHIPU_V3,
    (code: number) => ({ code, success: false, msg: 'x' }),
    {
      400: [1210, 1214, 1261, 1300, 1301],
      404: [1211, 1222],
      429: [1302, 1304, 1308],
      502: [1120, 1200, 1220, 1230, 1234],
    },
  ],
  [
    'Baidu',
    BAIDU_V1,
    (error_code: number) => ({ error_code, error_msg: 'x' }),
    {
      400: [336_001, 336_003, 336_006, 336_103],
      403: [336_004],
      404: [336_005],
      429: [18, 336_100],
      502: [1, 2, 336_000],
    },
  ],
  [
    'Spark',
    XUNFEI,
    (code: number) => ({ header: { code, message: 'x' } }),
    {
      400: [10_003, 10_005, 10_013, 10_014, 10_019, 10_021, 10_907],
      401: [10_015, 10_313, 11_200],
      429: [10_006, 10_007, 11_201],
      502: [10_009, 10_012],
    },
  ],
] as const)('the codes of %s have the status of their cause', (_name, api, bodyOf, codes) => {
  for (const [status, ofStatus] of Object.entries(codes)) {
    for (const code of ofStatus) {
      expect([code, api.readError(bodyOf(code), 200)?.status]).toEqual([code, Number(status)])
    }
  }
})

it.each(['constructor', '__proto__', { toString: 1 }])(
  'Cohere’s unknown finish reason %j is the usual end',
  (finish_reason) => {
    const answer = COHERE.readAnswer({ message: { role: 'assistant' }, finish_reason })
    expect(answer?.choices[0]?.stop).toBe('end')
    const delta = { finish_reason, usage: {} }
    const data = JSON.stringify({ type: 'message-end', delta })
    const events = COHERE.createEventReader()({ name: '', data, fields: {} })
    expect(events.find(({ kind }) => kind === 'stop')).toMatchObject({ stop: 'end' })
  },
)

it('an error code that is no number causes no fault', () => {
  const code = { toString: 1 }
  const bodies = [
    ...[{ error_code: code }, { code }, { header: { code } }, { error: { code } }],
    { Response: { ErrorMsg: { Code: code, Msg: 'x' } } },
  ]
  for (const { readError } of [BAIDU_V1, COZE, TENCENT, XUNFEI, ZHIPU_V3]) {
    for (const body of bodies) expect(() => readError(body, 400)).not.toThrow()
  }
})

describe.each(['ERROR', 'TIMEOUT'])('an answer of Cohere that ended with %s', (finish_reason) => {
  const usage = { billed_units: { input_tokens: 7, output_tokens: 2 } }
  const message = { role: 'assistant', content: [{ type: 'text', text: 'Half' }] }
  const isError = expect.objectContaining({ kind: 'error', message: finish_reason })
  const lastOf = (delta: object) => {
    const data = JSON.stringify({ type: 'message-end', delta: { finish_reason, ...delta } })
    return COHERE.createEventReader()({ name: '', data, fields: {} })
  }

  it('is incomplete if Cohere bills it', () => {
    const body = { message, finish_reason, usage }
    expect(COHERE.readError(body, 200)).toBeNull()
    const parts = [{ kind: 'text', text: 'Half' }]
    const choices = [{ parts, stop: 'interrupted' }]
    const billed = { inputUncached: 7, output: 2 }
    expect(COHERE.readAnswer(body)).toMatchObject({ choices, usage: billed })
    expect(lastOf({ usage })).toMatchObject([{ kind: 'usage', usage: billed }, isError])
  })

  it('is an error if Cohere does not bill it', () => {
    expect(COHERE.readError({ message, finish_reason }, 200)).toMatchObject({ status: 502 })
    expect(lastOf({})).toEqual([isError])
  })
})
