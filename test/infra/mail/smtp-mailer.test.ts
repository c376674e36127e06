import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type MailErrorCode, MailFailed } from '#infra/mail/port.ts'
import { createSmtpMailer, type MailSettings } from '#infra/mail/smtp-mailer.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { startMailServer } from '#test/support/mail-server.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'

const server = startedOnce(startMailServer)

const LOOPBACK = operatorPolicy({ port: 3000, isLoopback: true, privateUpstreams: [] })
const NETWORK = operatorPolicy({ port: 3000, isLoopback: false, privateUpstreams: [] })

const mailer = (settings: Partial<MailSettings> = {}, policy = LOOPBACK, stepMsMax = 5_000) =>
  createSmtpMailer(
    async () => ({
      host: '127.0.0.1',
      port: server.port,
      isTls: false,
      account: '',
      password: '',
      from: { name: 'Tallygate', address: 'noreply@site.example' },
      ...settings,
    }),
    policy,
    stepMsMax,
  )

const MAIL = { to: 'ada@example.com', subject: '邮箱验证 · Ada', text: 'Hello ✓\nada' }

async function errorCodeOf(sending: Promise<void>): Promise<MailErrorCode | null> {
  try {
    await sending
    return null
  } catch (error) {
    if (error instanceof MailFailed) return error.code
    throw error
  }
}

describe('a mail', () => {
  it('arrives as it was written, from the sender in the options', async () => {
    await mailer().send({ ...MAIL, html: '<p>Hello ✓</p>' })
    const mail = await server.mailTo('ada@example.com')
    expect(mail).toMatchObject({ from: 'noreply@site.example', subject: MAIL.subject, account: '' })
    expect(mail.text.trim().replace(/\r/g, '')).toBe(MAIL.text)
    expect(mail.raw).toMatch(/^From: Tallygate <noreply@site.example>/m)
    expect(mail.raw).toMatch(/^Auto-Submitted: auto-generated/im)
    expect(mail.raw).toMatch(/text\/html/)
  })

  it('is sent after a login if the options name an account', async () => {
    await mailer({ account: 'site', password: 'mail-password' }).send(MAIL)
    expect((await server.mailTo('ada@example.com')).account).toBe('site')
  })

  it('goes to one mailbox, even if its address contains more addresses', async () => {
    const before = server.mails.length
    await errorCodeOf(mailer().send({ ...MAIL, to: 'a@example.com, b@example.com' }))
    await errorCodeOf(mailer().send({ ...MAIL, to: 'a@example.com\r\nBcc: c@example.com' }))
    const reached = server.mails.slice(before).flatMap(({ to }) => to)
    expect(reached).not.toContain('b@example.com')
    expect(reached).not.toContain('c@example.com')
  })
})

describe('the error code of a mail that can’t be sent', () => {
  it('reports that no server or no sender is set', async () => {
    expect(await errorCodeOf(mailer({ host: '' }).send(MAIL))).toBe('not-set-up')
    const from = { name: '', address: '' }
    expect(await errorCodeOf(mailer({ from }).send(MAIL))).toBe('not-set-up')
  })

  it('reports that the password is wrong', async () => {
    const wrong = mailer({ account: 'site', password: 'wrong' })
    expect(await errorCodeOf(wrong.send(MAIL))).toBe('login-refused')
  })

  it('reports that the address of the server is not allowed', async () => {
    for (const host of ['127.0.0.1', 'localhost', '169.254.169.254', '[::1]']) {
      expect(await errorCodeOf(mailer({ host }, NETWORK).send(MAIL))).toBe('not-allowed')
    }
  })

  it('reports that no server listens at the address', async () => {
    expect(await errorCodeOf(mailer({ port: 1 }).send(MAIL))).toBe('unreachable')
  })

  it('reports that the server refuses the recipient', async () => {
    const strict = await startMailServer({
      onRcptTo: (_address, _session, callback) => callback(new Error('550 no such mailbox')),
    })
    expect(await errorCodeOf(mailer({ port: strict.port }).send(MAIL))).toBe('mail-refused')
    await strict.close()
  })

  it('reports that TLS is enabled and the certificate is not trusted', async () => {
    const tls = await startMailServer({ secure: true })
    const code = await errorCodeOf(mailer({ port: tls.port, isTls: true }).send(MAIL))
    expect(code).toBe('not-safe')
    await tls.close()
  })

  it('reports that the server listens and never answers', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
    const { port } = silent.address() as AddressInfo
    expect(await errorCodeOf(mailer({ port }, LOOPBACK, 200).send(MAIL))).toBe('timed-out')
    silent.close()
  })

  it('reports that too many mails are being sent', async () => {
    let goOn = () => {}
    const held = new Promise<MailSettings>((_, fail) => {
      goOn = () => fail(new MailFailed('not-set-up'))
    })
    const slow = createSmtpMailer(() => held, LOOPBACK)
    const first = Array.from({ length: 32 }, () => errorCodeOf(slow.send(MAIL)))
    expect(await errorCodeOf(slow.send(MAIL))).toBe('busy')
    goOn()
    expect(await Promise.all(first)).toEqual(Array(32).fill('not-set-up'))
  })
})
