import { expect, it } from 'vitest'
import { startMailServer } from '#test/support/mail-server.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
const server = startedOnce(startMailServer)

const put = (key: string, value: string) =>
  fixture.root.call('PUT', '/api/option/', { body: { key, value } })
const testMail = (to: string, headers: Record<string, string> = {}) =>
  fixture.root.call('POST', '/api/option/test_mail', { body: { to }, headers })

it('a test mail reports missing options, arrives, and uses each option', async () => {
  expect(await testMail('ada@example.com')).toMatchObject({
    status: 200,
    code: 'TestMailFailed',
    message: '请先填写并保存 SMTP 服务器地址与发送者邮箱',
  })
  await put('SMTPServer', '127.0.0.1')
  await put('SMTPPort', String(server.port))
  await put('SMTPFrom', 'Lovelace <noreply@site.example>')
  expect(await testMail('Ada@Example.COM')).toMatchObject({ success: true })
  const mail = await server.mailTo('ada@example.com')
  expect(mail).toMatchObject({ from: 'noreply@site.example', subject: 'Tallygate 测试邮件' })
  expect(mail.raw).toMatch(/^From: Lovelace </m)

  await put('SMTPAccount', 'site')
  await put('SMTPToken', 'not-the-password')
  await put('SystemName', 'Lovelace’s <b>')
  expect(await testMail('ada@example.com')).toMatchObject({ code: 'TestMailFailed' })
  await put('SMTPToken', 'mail-password')
  const english = { 'accept-language': 'en' }
  expect(await testMail('ada@example.com', english)).toMatchObject({ success: true })
  expect(await server.mailTo('ada@example.com')).toMatchObject({
    account: 'site',
    subject: 'Lovelace’s <b>: test mail',
  })
})

it.each([
  ['', '请输入邮箱！'],
  ['nobody', '邮箱地址格式错误'],
  ['a@b@example.com', '邮箱地址格式错误'],
  ['a,b@example.com', '邮箱地址格式错误'],
  ['a@example.com\r\nbcc: b@example.com', '邮箱地址格式错误'],
  ['a@localhost', '邮箱地址格式错误'],
  [`a@${'b'.repeat(250)}.example`, '邮箱地址格式错误'],
])('%j is refused as the address of a test mail', async (to, message) => {
  expect(await testMail(to)).toMatchObject({ success: false, message })
})
