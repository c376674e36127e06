import { beforeAll, describe, expect, it } from 'vitest'
import { en, textPattern, zh } from '#test/support/console-texts.ts'
import { OIDC_CLIENT, startOidcSite } from '#test/support/oidc-provider.ts'
import {
  siteOptions,
  startScriptedSites,
  telegramSays,
} from '#test/support/simulated-login-sites.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { PASSWORD, setOption, testProduct } from '#test/support/test-product.ts'
import { eventually, realPage, submitLogin } from './open-product-page.ts'

const product = startedOnce(() => {
  const roles = new Set(['write-api', 'read-api', 'projections', 'console'] as const)
  return testProduct({ roles })
})
const sites = startedOnce(startScriptedSites)
const oidc = startedOnce(() => startOidcSite(`${product.url}/oauth/oidc`))
const open = realPage(() => product.url)

beforeAll(async () => {
  const options = {
    ServerAddress: product.url,
    ...siteOptions(sites.url),
    WeChatAccountQRCodeImageURL: `${sites.url}/qr.svg`,
    'oidc.enabled': 'true',
    'oidc.client_id': OIDC_CLIENT.id,
    'oidc.client_secret': OIDC_CLIENT.secret,
    'oidc.well_known': oidc.wellKnown,
  }
  for (const [key, value] of Object.entries(options)) await setOption(product.root, key, value)
  const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
  sites.instead.set('/qr.svg', { status: 200, body: picture, type: 'image/svg+xml' })
  await product.root.must('POST', '/api/user/', { username: 'binder', password: PASSWORD })
})

const button = (name: string | RegExp) => open.page.getByRole('button', { name, exact: true })
const at = (path: string) => open.page.waitForURL(`${product.url}${path}`)
const self = () => open.page.evaluate(() => localStorage.getItem('user'))

async function logInByPassword(): Promise<void> {
  await open.page.goto(`${product.url}/login?returnTo=/app/me`)
  await submitLogin(open.page, 'binder')
  await at('/app/me')
}

async function logOut(): Promise<void> {
  // The console does not run at this URL. It would otherwise send requests without a session. A
  // live connection that is still being opened would fail without its cookie.
  await open.liveConnectionsOpened()
  await open.page.goto(`${product.url}/favicon.svg`)
  await open.whileAway(async () => {
    await open.page.context().clearCookies()
    await open.page.evaluate(() => localStorage.removeItem('user'))
    await open.page.goto(`${product.url}/favicon.svg`)
  })
}

describe('other login methods in a real browser', () => {
  it('GitHub creates an account and returns to the page that the user requested', async () => {
    sites.who = { id: 9001, login: 'octo-browser', name: 'Octo' }
    await open.page.goto(`${product.url}/login?returnTo=/app/dashboard`)
    await button(en('oauth.signInWith', { site: 'GitHub' })).click()
    await at('/app/dashboard')
    expect(JSON.parse((await self()) ?? '{}')).toMatchObject({ username: 'octo-browser' })

    // The user has no password, so the console does not ask for one. GitHub is the only login
    // method.
    await open.page.goto(`${product.url}/app/me`)
    const row = open.page.getByRole('listitem').filter({ hasText: zh('oauth.site.github') })
    await row.getByRole('button', { name: en('oauth.unbind') }).click()
    await open.page
      .getByRole('alertdialog')
      .getByRole('button', { name: en('oauth.unbind') })
      .click()
    await open.page.getByText('You could no longer sign in').waitFor()
    await button(en('me.setPassword')).click()
    const dialog = open.page.getByRole('dialog')
    await dialog.getByRole('textbox').first().waitFor()
    for (const field of await dialog.getByRole('textbox').all()) await field.fill(PASSWORD)
    await dialog.getByRole('button', { name: en('me.setPassword') }).click()
    await button(en('me.changePassword')).waitFor()
    await logOut()
  })

  it('OIDC creates an account and opens the page of tokens', async () => {
    oidc.who = 'browser-sub'
    await open.page.goto(`${product.url}/login`)
    await button(en('oauth.signInWith', { site: 'OIDC' })).click()
    await at('/app/tokens')
    expect(JSON.parse((await self()) ?? '{}')).toMatchObject({ username: 'browser-sub' })
  })

  it('OIDC confirms a relogin and returns to the page when the login is too old', async () => {
    const answer = { success: false, message: 'too long ago', code: 'LoginNotRecent' }
    await open.page.route('**/api/user/token', (route) => route.fulfill({ json: answer }))
    await open.page.goto(`${product.url}/app/me?settings=price`)
    await button(en('credentials.createToken')).last().click()
    const relogin = open.page.getByRole('alertdialog', { name: en('credentials.relogin') })
    const back = open.page.waitForResponse(/\/api\/oauth\/oidc\?/)
    await relogin.getByRole('button', { name: en('oauth.signInWith', { site: 'OIDC' }) }).click()
    await back
    await at('/app/me?settings=price')
    await open.page.unroute('**/api/user/token')
    await logOut()
  })

  it('LinuxDO creates an account through its own button', async () => {
    sites.who = { id: 77, login: 'neo' }
    await open.page.goto(`${product.url}/login`)
    await button(en('oauth.signInWith', { site: 'LinuxDO' })).click()
    await at('/app/tokens')
    expect(JSON.parse((await self()) ?? '{}')).toMatchObject({ username: 'neo' })
    await logOut()
  })

  it('GitHub is bound to an account, logs in to it, and is unbound', async () => {
    sites.who = { id: 9002, login: 'bound-octo' }
    await logInByPassword()
    const row = open.page.getByRole('listitem').filter({ hasText: zh('oauth.site.github') })
    await row.getByRole('button', { name: en('me.bindSubmit') }).click()
    await open.page.getByText(en('oauth.bound', { site: 'GitHub' })).waitFor()
    await at('/app/me')
    await row.getByText('9002').waitFor()
    await logOut()
    await open.page.goto(`${product.url}/login`)
    await button(en('oauth.signInWith', { site: 'GitHub' })).click()
    await at('/app/tokens')
    expect(JSON.parse((await self()) ?? '{}')).toMatchObject({ username: 'binder' })
    await open.page.goto(`${product.url}/app/me`)
    await row.getByRole('button', { name: en('oauth.unbind') }).click()
    await open.page
      .getByRole('alertdialog')
      .getByRole('button', { name: en('oauth.unbind') })
      .click()
    await row.getByText(en('oauth.unbound')).waitFor()
  })

  it('WeChat is bound by a code, and Telegram by its widget', async () => {
    sites.weChatCodes.set('123456', 'openid-browser')
    const weChat = open.page.getByRole('listitem').filter({ hasText: en('oauth.site.wechat') })
    await weChat.getByRole('button', { name: en('me.bindSubmit') }).click()
    const dialog = open.page.getByRole('dialog')
    const picture = dialog.getByRole('img', { name: en('oauth.qrCode') })
    await eventually(() =>
      picture.evaluate((img) => img instanceof HTMLImageElement && img.naturalWidth),
    ).toBe(9)
    await dialog.getByRole('button', { name: en('me.bindSubmit') }).click()
    await dialog.getByText(en('ui.enterCode')).waitFor()
    await dialog.getByLabel(en('ui.verificationCode'), { exact: true }).fill('123456')
    await dialog.getByRole('button', { name: en('me.bindSubmit') }).click()
    await weChat.getByText('openid-browser').waitFor()

    const said = telegramSays({ id: '4242', auth_date: String(Math.floor(Date.now() / 1_000)) })
    await serveWidget(said)
    const telegram = open.page.getByRole('listitem').filter({ hasText: zh('oauth.site.telegram') })
    await telegram.getByRole('button', { name: en('me.bindSubmit') }).click()
    await open.page.getByRole('button', { name: 'Telegram’s own button' }).click()
    await open.page.getByText(en('oauth.bound', { site: 'Telegram' })).waitFor()
    await telegram.getByText('4242').waitFor()
    await logOut()
  })

  it('a refused or forged authorization is reported, and the user can continue', async () => {
    await open.page.goto(`${product.url}/oauth/github?error=access_denied&state=x`)
    await open.page.getByText(en('oauth.refused', { site: 'GitHub' })).waitFor()
    await at('/login?returnTo=%2Fadmin%2Fsettings')
    await logInByPassword()
    await open.page.goto(`${product.url}/oauth/github?code=x&state=made-up`)
    await open.page.getByText('This authorisation is no longer valid').waitFor()
    await at('/admin/settings')
    await open.page.getByRole('heading', { level: 1 }).waitFor()
    // A live connection or a request that began just before a logout is refused.
    const isRefused = (fault: string) =>
      /\/api\/live.*HTTP Authentication failed|^401 .*unread_count$|status of 401/.test(fault)
    expect(open.faults.filter((fault) => !isRefused(fault))).toEqual([])
  })

  it('the login page shows enabled methods, and the policy allows their sites only', async () => {
    const policy = async () =>
      (await fetch(`${product.url}/login`)).headers.get('content-security-policy') ?? ''
    expect(await policy()).toContain('https://telegram.org')
    for (const key of ['TelegramOAuthEnabled', 'WeChatAuthEnabled', 'LinuxDOOAuthEnabled']) {
      await setOption(product.root, key, 'false')
    }
    await eventually(policy).not.toContain('telegram')
    expect(await policy()).not.toContain(sites.url)
    await logOut()
    await open.page.goto(`${product.url}/login`)
    await button(en('oauth.signInWith', { site: 'GitHub' })).waitFor()
    const methods = open.page.getByRole('button', { name: textPattern('en', 'oauth.signInWith') })
    await expect
      .poll(() => methods.allTextContents())
      .toEqual([
        en('oauth.signInWith', { site: 'GitHub' }),
        en('oauth.signInWith', { site: 'OIDC' }),
      ])
  })
})

/** Replaces Telegram's script by a button that redirects the browser in the same way. */
async function serveWidget(said: Readonly<Record<string, string>>): Promise<void> {
  const body = `{
    const script = document.querySelector('script[data-telegram-login="tallygate_bot"]')
    const button = document.createElement('button')
    button.textContent = 'Telegram’s own button'
    const query = '&' + new URLSearchParams(${JSON.stringify(said)})
    button.onclick = () => { location.href = script.dataset.authUrl + query }
    script.after(button)
  }`
  await open.page.route('https://telegram.org/**', (route) =>
    route.fulfill({ contentType: 'text/javascript; charset=utf-8', body }),
  )
}
