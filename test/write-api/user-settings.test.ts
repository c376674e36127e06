import { describe, expect, it } from 'vitest'
import { notificationsDecider } from '#domain/notifications/decide.ts'
import { notificationsStream } from '#domain/notifications/events.ts'
import type { User } from '#read-api/contract/users.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { entryFixture } from './entry-fixture.ts'
import { fifty } from './write-fixture.ts'

const fixture = startedOnce(entryFixture)

const put = (body: unknown) => fixture.user.call('PUT', '/api/user/setting', { body })
const codeFor = async (email: string): Promise<string> => {
  const query = new URLSearchParams({ email, purpose: 'notify' })
  expect((await fixture.user.call('GET', `/api/verification?${query}`)).success).toBe(true)
  const { text } = await fixture.server.mailTo(email.toLowerCase())
  return /\b\d{6}\b/.exec(text)?.[0] ?? ''
}
const settings = async (): Promise<unknown> => {
  const headers = { 'x-after-position': String(await fixture.head()) }
  const { data } = await fixture.user.call<User>('GET', '/api/user/self', { headers })
  return JSON.parse(data.setting)
}
/** The notification settings of a user who has not set any. */
const UNSET = {
  notify_type: 'email',
  quota_warning_threshold: 500_000,
  webhook_url: '',
  webhook_secret_set: false,
  notification_email: '',
}

it('a change of user settings keeps the settings that the request omits', async () => {
  expect(await settings()).toEqual({
    accept_unset_model_ratio_model: false,
    show_ip_in_logs: false,
    ...UNSET,
  })
  expect((await put({ accept_unset_model_ratio_model: true })).success).toBe(true)
  expect((await put({ show_ip_in_logs: true })).success).toBe(true)
  expect(await settings()).toMatchObject({
    accept_unset_model_ratio_model: true,
    show_ip_in_logs: true,
  })
  const head = await fixture.head()
  expect((await put({})).success).toBe(true)
  expect(await fixture.head()).toBe(head)
})

it('fifty concurrent changes of two user settings are all applied', async () => {
  await fifty((n) =>
    put(n % 2 === 0 ? { accept_unset_model_ratio_model: false } : { show_ip_in_logs: false }),
  )
  expect(await settings()).toEqual({
    accept_unset_model_ratio_model: false,
    show_ip_in_logs: false,
    ...UNSET,
  })
})

it.each([
  { accept_unset_model_ratio_model: 'true' },
  { accept_unset_model_ratio_model: 1 },
  { show_ip_in_logs: null },
  { notify_type: 'pigeon' },
  { quota_warning_threshold: -1 },
  { quota_warning_threshold: 0.5 },
  { quota_warning_threshold: '5' },
  { webhook_secret: 5 },
  [],
  'x',
])('a change of user settings with %j is refused and writes nothing', async (body) => {
  const head = await fixture.head()
  const answer = await put(body)
  expect([answer.success, answer.status]).toEqual([false, 400])
  expect(await fixture.head()).toBe(head)
})

describe('notification settings', () => {
  const SECRET = 'whs-canary-77'
  const secrets = async () => {
    const { rows } = await fixture.core.pg.query(
      "select ref from vault.secrets where purpose = 'webhook'",
    )
    return rows.length
  }

  it('are stored, never show the secret, and are hidden from admins', async () => {
    const submitted = {
      notify_type: 'webhook',
      quota_warning_threshold: 100_000,
      webhook_url: 'https://hooks.example.com/quota',
      notification_email: 'Me@Example.com',
    }
    const notification_code = await codeFor('Me@Example.com')
    const first = { ...submitted, webhook_secret: SECRET, notification_code }
    expect((await put(first)).success).toBe(true)
    const kept = { ...submitted, webhook_secret_set: true, notification_email: 'me@example.com' }
    expect(await settings()).toMatchObject(kept)
    const head = await fixture.head()
    expect((await put({ ...submitted, webhook_secret: '' })).success).toBe(true)
    expect(await fixture.head(), 'the same again').toBe(head)
    const seen = await fixture.root.call<User>('GET', `/api/user/${fixture.user.id}`)
    expect(JSON.parse(seen.data.setting)).not.toHaveProperty('webhook_url')
    const events = await fixture.core.store.readStream(`notifications-${fixture.user.id}`)
    expect(JSON.stringify([events, await settings()])).not.toMatch(/canary/)
    expect(JSON.stringify(events)).not.toMatch(/hooks\.example|example\.com/)
  })

  it('replace a webhook secret by another, and remove it for null', async () => {
    expect(await secrets()).toBe(1)
    await put({ webhook_secret: 'another' })
    expect(await secrets()).toBe(1)
    await put({ webhook_secret: null })
    expect(await secrets()).toBe(0)
    expect(await settings()).toMatchObject({ webhook_secret_set: false })
  })

  it.each([
    'http://hooks.example.com/',
    'https://127.0.0.1/',
    'https://localhost/',
    'https://[::1]/',
    'https://10.0.0.7/',
    'https://169.254.169.254/latest',
    'https://0x7f.1/',
    'https://me:secret@hooks.example.com/',
    'https://hooks.example.com:8443/',
    'ftp://hooks.example.com/',
    'hooks',
  ])('refuse a webhook at %s, and store no secret for it', async (webhook_url) => {
    const head = await fixture.head()
    const answer = await put({ webhook_url, webhook_secret: SECRET, show_ip_in_logs: true })
    expect(answer).toMatchObject({ status: 200, code: 'WebhookUrlInvalid' })
    expect([await fixture.head(), await secrets()]).toEqual([head, 0])
  })

  it.each(['密钥-geheim', 'a\nb', 'a\tb', 'é', 'a\u007f'])(
    'refuse the secret %j, which no header can carry, and write nothing',
    async (webhook_secret) => {
      const head = await fixture.head()
      const answer = await put({ webhook_secret, show_ip_in_logs: true })
      expect(answer).toMatchObject({ status: 200, success: false, code: 'WebhookSecretInvalid' })
      expect(answer.message).toContain('webhook_secret')
      expect([await fixture.head(), await secrets()]).toEqual([head, 0])
    },
  )

  it('trim the blanks around a secret, and treat blanks alone as omitted', async () => {
    await put({ webhook_secret: ' a b~\n' })
    await put({ webhook_secret: ' ' })
    const { core, user } = fixture
    const { rows } = await core.pg.query("select ref from vault.secrets where purpose = 'webhook'")
    const kept = rows.map(({ ref }) => core.vault.getSecret('webhook', `user:${user.id}`, ref))
    expect(await Promise.all(kept)).toEqual(['a b~'])
    await put({ webhook_secret: null })
  })

  it('need a URL for webhook warnings, and accept only a valid mail address', async () => {
    const none = { notify_type: 'webhook', webhook_url: '' }
    expect(await put(none)).toMatchObject({ status: 200, code: 'WebhookUrlInvalid' })
    const nobody = { notification_email: 'nobody' }
    expect(await put(nobody)).toMatchObject({ status: 200, code: 'MailInvalid' })
    expect((await put({ ...none, notify_type: 'email' })).success).toBe(true)
    expect(await settings()).toMatchObject({ notify_type: 'email', webhook_url: '' })
  })

  it('accept a mail address only with its code or if it is bound', async () => {
    const at = (notification_email: string, notification_code = '') =>
      put({ notification_email, notification_code })
    const head = await fixture.head()
    expect(await at('stranger@example.com')).toMatchObject({ code: 'MailCodeRequired' })
    const code = await codeFor('mine@example.com')
    expect(await at('stranger@example.com', code)).toMatchObject({ code: 'MailCodeWrong' })
    const { admin } = fixture
    const body = { notification_email: 'mine@example.com', notification_code: code }
    expect((await admin.call('PUT', '/api/user/setting', { body })).code).toBe('MailCodeWrong')
    expect(await fixture.head()).toBe(head)
    const made = await fifty(() => at('mine@example.com', code))
    expect(made.some(({ success }) => success)).toBe(true)
    expect(await settings()).toMatchObject({ notification_email: 'mine@example.com' })
    expect((await at('other@example.com', code)).code).toBe('MailCodeWrong')
    expect((await at('mine@example.com')).success).toBe(true)

    const bound = new URLSearchParams({
      email: 'bound@example.com',
      code: await fixture.codeFor('bound@example.com', fixture.user.call),
    })
    await fixture.user.call('GET', `/api/oauth/email/bind?${bound}`)
    expect((await at('Bound@example.com')).success).toBe(true)
    expect((await at('')).success).toBe(true)
    expect(await settings()).toMatchObject({ notification_email: '' })
  })

  it('need a login to request the code for a mail address', async () => {
    const path = '/api/verification?email=x@example.com&purpose=notify'
    expect((await fixture.anybody('GET', path)).status).toBe(401)
  })
})

it('the user settings report which part of an old webhook cannot be used', async () => {
  const { core, user } = fixture
  const kept = async (webhookUrl: string, text: string | null) => {
    const settings = {
      means: 'webhook',
      threshold: null,
      mailTo: null,
      webhookUrl: await core.vault.seal(user.id, webhookUrl),
      webhookSecretRef: text && (await core.vault.putSecret('webhook', `user:${user.id}`, text)),
    } as const
    const command = { type: 'ChangeNotifications', userId: user.id, settings } as const
    const context = { actor: 'test', cause: null, at: core.now() }
    await core.actors.handle(notificationsDecider, notificationsStream(user.id), command, context)
  }
  await kept('https://10.0.0.7/', null)
  expect(await settings()).toMatchObject({ webhook_fault: 'url' })
  await kept('https://hooks.example.com/', '密钥')
  expect(await settings()).toMatchObject({ webhook_fault: 'secret' })
  expect((await put({ webhook_secret: null })).success).toBe(true)
  expect(await settings()).not.toHaveProperty('webhook_fault')
})
