import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { codeOfId } from '#infra/vault/id-code.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import type { Deps } from '#write-api/action.ts'
import { createNextIds } from '#write-api/assign-next-id.ts'
import { createKeyedMutex } from '#write-api/keyed-mutex.ts'
import { createUserAccount } from '#write-api/users/create-user-account.ts'
import { entryFixture } from './entry-fixture.ts'
import { fifty, PASSWORD } from './write-fixture.ts'

const fixture = startedOnce(entryFixture)
beforeEach(() => fixture.anHourLater())

const register = (username: string, more: object = {}) =>
  fixture.register({ username, password: PASSWORD, password2: PASSWORD, ...more })
const self = async (username: string) => {
  const { call } = await fixture.logIn(username)
  return (await call<Record<string, unknown>>('GET', '/api/user/self')).data
}

describe('a registration', () => {
  it('creates a normal user with the initial quota, who can log in', async () => {
    await fixture.put('QuotaForNewUser', '5000')
    expect(await register('Ada')).toMatchObject({ status: 200, success: true })
    expect(await self('ada')).toMatchObject({
      username: 'Ada',
      display_name: 'Ada',
      role: 1,
      status: 1,
      group: 'default',
      quota: 5000,
      email: '',
    })
    await fixture.put('QuotaForNewUser', '0')
  })

  it.each([
    ['an empty name', { username: ' ' }, '用户名和密码不能为空！'],
    ['no password', { password: '', password2: '' }, '用户名和密码不能为空！'],
    ['a short password', { password: 'seven77', password2: 'seven77' }, '密码长度不得小于 8 位！'],
    ['a long one', { password: 'x'.repeat(129) }, '密码长度不得超过 128 位！'],
    ['another confirmation', { password2: 'something else' }, '两次输入的密码不一致'],
    ['a name too long', { username: 'a'.repeat(13) }, '用户名长度不得超过 12 位！'],
    ['a name with a space', { username: 'a b' }, '用户名不能包含空白字符'],
    ['a name that turns around', { username: 'a\u202eb' }, '用户名不能包含控制字符或不可见字符'],
    ['a name that is a mail address', { username: 'Ａ@b.co' }, '用户名不能是邮箱地址'],
    ['a name that is taken', { username: 'USER1' }, '用户名已被占用'],
  ])('is refused for %s', async (_, body, message) => {
    const head = await fixture.head()
    expect(await register('somebody', body)).toMatchObject({ status: 200, success: false, message })
    expect(await fixture.head()).toBe(head)
  })

  it('ignores fields that a user may not choose', async () => {
    const more = { role: 100, quota: 1e9, group: 'vip', status: 2, inviter_id: 1, id: 1 }
    expect((await register('plain', more)).success).toBe(true)
    const answer = { role: 1, quota: 0, group: 'default', status: 1, inviter_id: 0 }
    expect(await self('plain')).toMatchObject(answer)
  })

  it('succeeds once when fifty use one name at once', async () => {
    const answers = await fifty(() => register('crowd'))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'UsernameTaken')).toHaveLength(49)
  })

  it('is limited for an IP address with too many registrations', async () => {
    const answers = await Promise.all(
      Array.from({ length: 65 }, () => register('x', { password2: 'another one' })),
    )
    expect(answers.every(({ code }) => code === 'PasswordsDiffer')).toBe(true)
    const real = await Promise.all(Array.from({ length: 65 }, () => register('user1')))
    expect(real.filter(({ status }) => status === 429)).toHaveLength(5)
  })

  it('records the inviter, and none for an unknown code', async () => {
    await fixture.put('AffEnabled', 'true')
    await register('invited', { aff_code: codeOfId(fixture.core.vault, fixture.user.id) })
    await register('stranger', { aff_code: 'nobody’s' })
    expect((await self('invited')).inviter_id).toBe(fixture.user.id)
    expect((await self('stranger')).inviter_id).toBe(0)
  })

  it('can be closed, for all users or only for passwords', async () => {
    await fixture.put('PasswordRegisterEnabled', 'false')
    expect(await register('late')).toMatchObject({
      code: 'PasswordRegistrationClosed',
      message: '管理员关闭了通过密码进行注册，请使用第三方账户验证的形式进行注册',
    })
    const code = 'PasswordRegistrationClosed'
    expect(await fixture.askCode('a@example.com')).toMatchObject({ code })
    const bind = await fixture.askCode('a@example.com', fixture.user.call)
    expect(bind.success).toBe(true)
    await fixture.put('RegisterEnabled', 'false')
    expect(await register('late')).toMatchObject({ message: '管理员关闭了新用户注册' })
    expect(await fixture.askCode('a@example.com')).toMatchObject({ code: 'RegistrationClosed' })
    await fixture.put('RegisterEnabled', 'true')
    await fixture.put('SelfUseModeEnabled', 'true')
    expect(await register('late')).toMatchObject({ code: 'RegistrationClosed' })
    await fixture.put('SelfUseModeEnabled', 'false')
    await fixture.put('PasswordRegisterEnabled', 'true')
  })
})

describe('a username in similar alphabets', () => {
  // In each name, one letter is not the Latin letter that it looks like.
  it.each(['аdmin', 'rοot', 'Еlena'])('is refused for a new account: %s', async (username) => {
    expect(await register(username)).toMatchObject({ success: false, code: 'UsernameMixed' })
    const body = { username, password: PASSWORD }
    const answer = await fixture.root.call('POST', '/api/user/', { body })
    expect(answer).toMatchObject({ success: false, code: 'UsernameMixed' })
  })

  it.each(['Елена7', 'ελένη', '管理员abc'])('is accepted: %s', async (username) => {
    expect(await register(username)).toMatchObject({ success: true })
  })
})

describe('a registration with a mail address', () => {
  beforeAll(() => fixture.put('EmailVerificationEnabled', 'true'))
  afterAll(() => fixture.put('EmailVerificationEnabled', 'false'))

  it('stores the address after a right code, and the user can log in by it', async () => {
    const verification_code = await fixture.codeFor('grace@example.com')
    const more = { email: ' Grace@Example.com', verification_code }
    expect(await register('grace', more)).toMatchObject({ success: true })
    expect(await self('grace')).toMatchObject({ email: 'grace@example.com' })
    expect((await fixture.logIn('GRACE@example.com')).id).toBeGreaterThan(0)
  })

  it.each([
    ['no address', {}, '请输入邮箱！'],
    ['no such address', { email: 'x@y' }, '邮箱地址格式错误'],
    ['no code', { email: 'a@example.com' }, '请输入邮箱验证码！'],
    ['a wrong code', { email: 'a@example.com', verification_code: '1' }, '验证码错误或已过期'],
  ])('is refused for %s', async (_, more, message) => {
    expect(await register('somebody', more)).toMatchObject({ success: false, message })
  })

  it('keeps its mail code valid when the username is taken', async () => {
    const verification_code = await fixture.codeFor('kept@example.com')
    const more = { email: 'kept@example.com', verification_code }
    expect(await register('user1', more)).toMatchObject({ code: 'UsernameTaken' })
    expect(await register('kept', more)).toMatchObject({ success: true })
  })

  it('succeeds once when fifty names use one address at once', async () => {
    const verification_code = await fixture.codeFor('crowd@example.com')
    const more = { email: 'crowd@example.com', verification_code }
    const answers = await fifty((n) => register(`crowd${n}`, more))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
  })

  it('is refused before and after its code if the mail domain is not on the list', async () => {
    await fixture.put('EmailDomainWhitelist', 'example.com\n例子.example')
    await fixture.put('EmailDomainRestrictionEnabled', 'true')
    const message = '管理员启用了邮箱域名白名单，您的邮箱地址的域名不在白名单中'
    expect(await fixture.askCode('a@other.example')).toMatchObject({ message })
    expect(await fixture.askCode('a@sub.example.com')).toMatchObject({ message })
    const more = { email: 'a@other.example', verification_code: '123456' }
    expect(await register('other', more)).toMatchObject({ message })
    expect(await fixture.askCode('a@例子.example')).toMatchObject({ success: true })
    await fixture.put('EmailDomainRestrictionEnabled', 'false')
  })
})

describe('a username that is a mail address', () => {
  beforeAll(() => fixture.put('EmailVerificationEnabled', 'true'))
  afterAll(() => fixture.put('EmailVerificationEnabled', 'false'))

  /** Creates a user with a name that earlier versions accepted. */
  const named = async (username: string, password: string) => {
    const { core, freshness } = fixture
    const runExclusive = createKeyedMutex()
    const parts = { core, freshness, runExclusive, nextIds: createNextIds(core, runExclusive) }
    const rest = { displayName: username, role: 1, quota: 0n, reason: 'new-user' } as const
    const context = { actor: 'user:1', cause: null, at: core.now() }
    const user = { username, password, ...rest }
    const { id, outcome } = await createUserAccount(parts as unknown as Deps, user, context)
    if (!outcome.isDone) throw new Error(outcome.error.code)
    await freshness.waitFor(['users'], outcome.position, 20_000)
    return id
  }

  it('is refused for a new account, even if an admin creates it', async () => {
    const body = { username: 'new@site.co', password: PASSWORD }
    expect(await fixture.root.call('POST', '/api/user/', { body })).toMatchObject({
      code: 'UsernameIsMail',
    })
  })

  it('still logs in if it is old, and no other user can bind the address', async () => {
    const id = await named('old@site.co', PASSWORD)
    expect((await fixture.logIn('Old@site.co')).id).toBe(id)
    const { call } = fixture.user
    const code = await fixture.codeFor('old@site.co', call)
    const query = new URLSearchParams({ email: 'old@site.co', code })
    const bound = await call('GET', `/api/oauth/email/bind?${query}`)
    expect(bound).toMatchObject({ code: 'MailIsUsername' })
    await fixture.anHourLater()
    const verification_code = await fixture.codeFor('old@site.co')
    const more = { email: 'old@site.co', verification_code }
    expect(await register('newcomer', more)).toMatchObject({ code: 'MailIsUsername' })
    expect((await fixture.logIn('old@site.co')).id).toBe(id)
  })

  it('is distinguished by password from another user’s equal mail address', async () => {
    const email = 'both@site.co'
    const verification_code = await fixture.codeFor(email)
    expect((await register('owner', { email, verification_code })).success).toBe(true)
    const id = await named(email, 'another horse')
    expect((await fixture.logIn(email, 'another horse')).id).toBe(id)
    expect((await fixture.logIn(email)).id).toBe((await fixture.logIn('owner')).id)
    await expect(fixture.logIn(email, 'nobody’s')).rejects.toThrow('用户名或密码错误')
  })
})
