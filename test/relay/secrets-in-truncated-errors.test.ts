import { expect, it } from 'vitest'
import { providerErrorBody } from '#relay/dialects/openai-chat/error-format.ts'
import { drawingReport } from '#relay/tasks/read-provider-task-answers.ts'
import { redactText } from '#relay/tasks/redact-provider-secrets.ts'

const KEY = 'PRIVATEKEYWITHOUTPREFIX99'

it('no part of a key shows if a truncated error ends within the key', () => {
  for (let at = 1_970; at < 2_005; at += 1) {
    const message = `${'x '.repeat(at).slice(0, at)}${KEY} and more`
    const bytes = Buffer.from(JSON.stringify({ error: { message, code: message } }))
    const { error } = providerErrorBody(bytes, 400, { isHidden: false, confidential: [KEY] })
    expect(error.message.length).toBeLessThanOrEqual(2_000)
    expect(`${error.message}${error.code}`).not.toContain(KEY.slice(0, 4))
  }
})

it('no part of a key shows in a truncated task report of a provider', () => {
  const failReason = `${'x'.repeat(16_380)}${KEY}`
  const told = drawingReport({ id: 'a', status: 'FAILURE', failReason, promptEn: failReason })
  expect(redactText(told?.promptEn ?? '', [KEY])).not.toContain(KEY.slice(0, 3))
  expect(redactText(told?.failReason ?? '', [KEY]).length).toBeLessThanOrEqual(16_384)
})

it('no part of a secret shows if it begins just before the end of the pattern search', () => {
  const secrets = [
    'sk-SECRETSECRETSECRET',
    'internal.example.com:8443',
    '10.20.30.40',
    'Bearer abcdef',
  ]
  for (const secret of secrets) {
    for (let at = 3_960; at <= 4_000; at += 1) {
      // The address becomes three characters, which moves what was far away into sight.
      const message = `https://${'x'.repeat(3_000)} ${'y '.repeat(2_000)}`.slice(0, at - 1)
      const bytes = Buffer.from(JSON.stringify({ error: { message: `${message} ${secret}` } }))
      const { error } = providerErrorBody(bytes, 400, { isHidden: false, confidential: [] })
      expect(error.message).not.toMatch(/sk-S|intern|10\.2|Bearer a/)
    }
  }
})
