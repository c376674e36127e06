import { beforeEach, describe, expect, it } from 'vitest'
import { zh } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { siteFixture } from '../support/console-fixture.ts'
import { ok, STATUS, startFakeSite } from '../support/fake-site.ts'
import type { Look } from '../support/open-page.ts'

const USER = { id: 7, username: 'eve', display_name: '', role: 1, status: 1, group: 'default' }
const NO_TOKEN = zh('chat.noToken')
const CHATS = [
  { Next: 'https://chat.example/#/?key={key}&url={address}' },
  { Cat: 'opencat://team/join?token={key}' },
  { Other: 'https://other.example/?key={key}' },
  { Own: 'javascript:alert("{key}")' },
]
const token = (id: number, name: string, status = 1) => ({ id, name, status, key: `key${id}` })

const app = siteFixture(() => startFakeSite())
beforeEach(() => {
  setStatus({ chats: CHATS })
  setTokens([token(3, 'off', 2), token(2, 'phone'), token(1, 'desk')])
})

const setStatus = (patch: Partial<typeof STATUS>) => {
  app.site.routes['GET /api/status'] = () => ok({ ...STATUS, ...patch })
}
const setTokens = (items: readonly ReturnType<typeof token>[]) => {
  const page = (found: typeof items) =>
    ok({ items: found.slice(0, 100), page: 0, total: found.length })
  app.site.routes['GET /api/token/'] = () => page(items)
  app.site.routes['GET /api/token/search'] = ({ query }) =>
    page(items.filter(({ status }) => String(status) === query.get('status')))
}

async function open(path: string, look: Look = {}, kept: Record<string, string> = {}) {
  const opened = await app.openPage(look)
  const requests: { url: string; referrer: string | undefined }[] = []
  await opened.page.context().route(/^https:\/\/(chat|other)\.example\//, (route) => {
    requests.push({ url: route.request().url(), referrer: route.request().headers().referer })
    const body = '<!doctype html><title>Client</title><h1>Hello from the client</h1>'
    return route.fulfill({ contentType: 'text/html', body })
  })
  const stored = { user: JSON.stringify(USER), ...kept }
  await opened.page.addInitScript((values) => {
    for (const [key, value] of Object.entries(values)) {
      if (sessionStorage.getItem(`set-${key}`) !== null) continue
      sessionStorage.setItem(`set-${key}`, '1')
      if (value !== '') localStorage.setItem(key, value)
    }
  }, stored)
  await opened.page.goto(app.site.url + path)
  return { ...opened, requests }
}

describe('/chat/:id', () => {
  it('frames the client with the newest enabled token, without a sidebar', async () => {
    const { page, faults, requests, close } = await open('/chat/0')
    const frame = page.frameLocator('iframe[title="Next"]')
    await frame.getByRole('heading', { name: 'Hello from the client' }).waitFor()
    const box = page.locator('iframe[title="Next"]')
    await expect
      .poll(() => box.getAttribute('src'))
      .toBe(`https://chat.example/#/?key=sk-key2&url=${encodeURIComponent(app.site.url)}`)
    await expect
      .poll(() => box.getAttribute('sandbox'))
      .toBe('allow-scripts allow-forms allow-popups allow-same-origin')
    expect(requests).toEqual([{ url: 'https://chat.example/', referrer: undefined }])
    await expect.poll(() => page.getByRole('complementary').count()).toBe(0)
    await expect.poll(async () => (await box.boundingBox())?.height).toBeGreaterThan(600)
    await page.getByRole('combobox', { name: zh('chat.token') }).selectOption('desk')
    await expect.poll(() => box.getAttribute('src')).toContain('sk-key1')
    expect(faults).toEqual([])
    await close()
  })

  it('links to a native app in a new window, and refuses invalid or unknown clients', async () => {
    const { page, close } = await open('/chat/1')
    const link = page.getByRole('link', { name: zh('chat.openInNewWindow') })
    await expect.poll(() => link.getAttribute('href')).toBe('opencat://team/join?token=sk-key2')
    await expect.poll(() => page.locator('iframe').count()).toBe(0)
    await page.goto(`${app.site.url}/chat/3`)
    await page.getByText(zh('ui.chatLinkInvalid')).waitFor()
    await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toBe('Own')
    for (const path of ['/chat/9', '/chat/x']) {
      await page.goto(app.site.url + path)
      await page.getByText(zh('chat.unknown')).waitFor()
      await expect.poll(() => page.getByRole('heading', { level: 1 }).count()).toBe(1)
    }
    await page.getByRole('link', { name: zh('chat.openFirst', { name: 'Next' }) }).click()
    await page.waitForURL('**/chat/0')
    setStatus({ chats: [] })
    await page.goto(`${app.site.url}/chat/0`)
    await page.getByText(zh('ui.noChatLinks')).waitFor()
    await expect.poll(() => page.getByRole('heading', { level: 1 }).count()).toBe(1)
    await close()
  })

  it('reloads once for a client that it may not frame, then says that it is blocked', async () => {
    const { page, close } = await open('/chat/2')
    await page.getByText(zh('chat.blocked')).waitFor()
    const loads = app.site.calls.filter(({ path }) => path === '/api/status').length
    expect(loads).toBeGreaterThanOrEqual(2)
    await close()
  })

  it('uses an enabled token that is older than the newest 100 tokens', async () => {
    const disabled = Array.from({ length: 100 }, (_, at) => token(200 - at, `off-${at}`, 2))
    setTokens([...disabled, token(1, 'desk')])
    const { page, close } = await open('/chat/0')
    await expect
      .poll(() => page.locator('iframe[title="Next"]').getAttribute('src'))
      .toContain('key=sk-key1&')
    await close()
  })

  it('sends users without an enabled token to the tokens, and visitors to the login', async () => {
    setTokens([token(3, 'off', 2)])
    const { page, close } = await open('/chat/0')
    await page.getByRole('alert').getByText(NO_TOKEN).waitFor()
    await page.waitForURL('**/app/tokens')
    await close()
    const visitor = await open('/chat/1', {}, { user: '' })
    await visitor.page.waitForURL('**/login?returnTo=%2Fchat%2F1')
    await visitor.close()
  })

  it('says that the stored list of clients cannot be read', async () => {
    const { page, close } = await open('/chat/0', {}, { chats: '[{' })
    await page.getByText(zh('chat.unreadable')).waitFor()
    await page.frameLocator('iframe[title="Next"]').getByRole('heading').waitFor()
    await close()
  })

  it('has one link in the sidebar for each client of the list', async () => {
    const { page, close } = await open('/app/tokens')
    const links = page.getByRole('navigation', { name: zh('shell.navigation') }).getByRole('link')
    await expect.poll(() => links.allTextContents()).toContain('Next')
    await expect
      .poll(async () => (await links.allTextContents()).slice(0, 4))
      .toEqual(['Next', 'Cat', 'Other', 'Own'])
    await links.filter({ hasText: 'Cat' }).click()
    await page.waitForURL('**/chat/1')
    await close()
  })

  it.each(LANGUAGES)('has no accessibility fault in %s', async (language) => {
    const { page, close } = await open('/chat/0', { language })
    await page.frameLocator('iframe[title="Next"]').getByRole('heading').waitFor()
    expect(await lookFaults(page, `chat-${language}`, [1280, 390])).toEqual([])
    await close()
  })
})

describe('/chat2link', () => {
  it('redirects to the chat link with the settings, else to the first client listed', async () => {
    setStatus({ chats: CHATS, chat_link: 'https://chat.example/app/' })
    const { page, close } = await open('/chat2link')
    await page.waitForURL(/^https:\/\/chat\.example\/app\//)
    const settings = decodeURIComponent(page.url().split('settings=')[1] ?? '')
    expect(settings).toContain('"key":"sk-key2"')
    expect(settings).toContain(app.site.url.replace('http://', ''))
    setStatus({ chats: CHATS })
    await page.goto(`${app.site.url}/chat2link`)
    await page.waitForURL(/^https:\/\/chat\.example\/#/)
    await close()
  })

  it('says whether a client or an enabled token is missing', async () => {
    setStatus({ chats: [] })
    setTokens([])
    const { page, close } = await open('/chat2link')
    await page.getByText(zh('ui.noChatLinks')).waitFor()
    // Without a chat client, no token is needed, so the page does not ask for one.
    await expect.poll(() => page.getByText(NO_TOKEN).count()).toBe(0)
    expect(new URL(page.url()).pathname).toBe('/chat2link')
    setTokens([token(2, 'phone')])
    setStatus({ chats: [], chat_link: 'http://plain.example/' })
    await page.goto(`${app.site.url}/chat2link`)
    await page.getByText(zh('ui.chatLinkInvalid')).waitFor()
    setTokens([])
    await page.goto(`${app.site.url}/chat2link`)
    await page.getByRole('alert').getByText(NO_TOKEN).waitFor()
    await page.waitForURL('**/app/tokens')
    await close()
  })
})
