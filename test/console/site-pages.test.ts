import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { en, zh } from '#test/support/console-texts.ts'
import { LANGUAGES, lookFaults } from './support/accessibility-faults.ts'
import { ROOT_USER } from './support/admin-site.ts'
import { siteFixture } from './support/console-fixture.ts'
import { ok, STATUS, startFakeSite } from './support/fake-site.ts'
import type { Look } from './support/open-page.ts'

const HOSTILE = [
  '# Welcome\n\nPay by **card**.\n\n<script>window.top.bad = 1</script>',
  '<img src="x" onerror="window.top.bad = 2"><img src="https://spy.example/a.png" alt="spy">',
  '<a href="javascript:window.top.bad = 3">link</a><style>body{display:none}</style>',
  '<form action="/api/user/logout"><input name="x"></form><p style="color:red">red</p>',
].join('\n\n')

const app = siteFixture(() => startFakeSite())
beforeEach(() => {
  for (const key of Object.keys(app.site.routes)) delete app.site.routes[key]
  setStatus({})
  for (const page of ['notice', 'about', 'home_page_content']) setPage(page, '')
  app.site.routes['GET /api/token/'] = () => ok({ items: [], page: 0, total: 0 })
})

const setStatus = (patch: Partial<typeof STATUS>) => {
  app.site.routes['GET /api/status'] = () => ok({ ...STATUS, ...patch })
}
const setPage = (page: string, text: string) => {
  app.site.routes[`GET /api/${page}`] = () => ok(text)
}

async function open(path: string, look: Look = {}, user: object | null = null) {
  const opened = await app.openPage(look)
  if (user !== null) {
    const text = JSON.stringify(user)
    await opened.page.addInitScript((stored) => localStorage.setItem('user', stored), text)
  }
  await opened.page.goto(app.site.url + path)
  await opened.page.getByRole('banner').waitFor()
  return opened
}

const links = (page: Page) =>
  page
    .getByRole('navigation', { name: zh('shell.topNavigation') })
    .getByRole('link')
    .allTextContents()

describe('content that the operator writes', () => {
  it.each([
    ['/', 'home_page_content', zh('shell.home')],
    ['/about', 'about', zh('shell.about')],
    ['/', 'notice', zh('shell.notice')],
  ])('appears at %s (%s) as Markdown and HTML, and runs no script', async (path, name, title) => {
    setPage(name, HOSTILE)
    const { page, faults, close } = await open(path)
    const frame = page.frameLocator(`iframe[title="${title}"]`)
    await frame.getByRole('heading', { name: 'Welcome' }).waitFor()
    await frame.getByText('red').waitFor()
    await expect.poll(() => frame.locator('strong').innerText()).toBe('card')
    await expect
      .poll(() => frame.getByRole('link', { name: 'spy' }).getAttribute('target'))
      .toBe('_blank')
    await expect
      .poll(() => frame.locator('script, style, form, input, img, [style], [onerror]').count())
      .toBe(0)
    await expect.poll(() => frame.locator('a[href^="javascript"]').count()).toBe(0)
    await expect.poll(() => page.evaluate(() => 'bad' in window)).toBe(false)
    const box = page.locator(`iframe[title="${title}"]`)
    await expect.poll(() => box.getAttribute('sandbox')).not.toContain('allow-scripts')
    await expect.poll(async () => (await box.boundingBox())?.height).toBeGreaterThan(100)
    expect(faults).toEqual([])
    await close()
  })

  it('keeps permitted images inside links, and leaves no link empty', async () => {
    const pictures = [
      '<a href="https://one.example"><img src="https://cdn.example/b.png" alt="Badge"></a>',
      '<a href="https://two.example"><img src="https://cdn.example/b.png"></a>',
      '<a href="https://three.example"><img src="/favicon.svg" alt="Ours"></a>',
      '<a href="https://four.example" aria-label="Code"><svg><path d="M0 0"/></svg></a>',
      '<a href="https://five.example"><svg><title>Chat</title></svg></a><a id="top"></a>',
      '<a href="https://six.example"><iframe src="/x">no frames</iframe></a>',
      '<img src="javascript:0"><img><a><img src="blob:x"></a>',
    ]
    setStatus({ footer_html: pictures.join(' ') })
    const { page, faults, close } = await open('/about')
    const frame = page.frameLocator('footer iframe')
    await frame.getByRole('link', { name: en('shell.sectionChat') }).waitFor()
    const links = await frame
      .getByRole('link')
      .evaluateAll((all) =>
        all.map((link) => [
          new URL((link as HTMLAnchorElement).href).hostname.split('.')[0],
          link.textContent || link.querySelector('img')?.alt,
        ]),
      )
    expect(links).toEqual([
      ['one', 'Badge'],
      ['two', 'https://two.example'],
      ['three', 'Ours'],
      ['four', 'Code'],
      ['five', 'Chat'],
      ['six', 'https://six.example'],
    ])
    await expect.poll(() => frame.locator('a').count()).toBe(6)
    expect(faults).toEqual([])
    await close()
  })

  it('uses the fonts of the console, also for Chinese', async () => {
    setPage('about', `# Us ${zh('shell.about')}`)
    const { page, close } = await open('/about')
    await page.frameLocator('article iframe').getByText(zh('shell.about')).waitFor()
    const loaded = () =>
      page.locator('article iframe').evaluate((frame: HTMLIFrameElement) => {
        const fonts = [...(frame.contentDocument?.fonts ?? [])]
        const used = fonts.filter(({ status }) => status === 'loaded')
        return [...new Set(used.map(({ family }) => family.replaceAll(/["']/g, '')))].sort()
      })
    await expect.poll(loaded).toEqual(['Inter Variable', 'Noto Sans SC'])
    await close()
  })

  it('includes a notice that stays dismissed until its text changes', async () => {
    setPage('notice', 'Back at noon')
    const { page, close } = await open('/app/tokens', {}, ROOT_USER)
    await page.frameLocator('iframe').getByText('Back at noon').waitFor()
    await page.getByRole('button', { name: zh('shell.noticeClose') }).click()
    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expect.poll(() => page.getByRole('region', { name: zh('shell.notice') }).count()).toBe(0)
    setPage('notice', 'Back at two')
    await page.reload()
    await page.frameLocator('iframe').getByText('Back at two').waitFor()
    await close()
  })
})

it('a frame with operator content adds no history entry, also when the theme changes', async () => {
  setPage('about', '# Us')
  const { page, close } = await open('/')
  await page
    .getByRole('link', { name: zh('shell.about') })
    .first()
    .click()
  await page.frameLocator('iframe').getByText('Us').waitFor()
  const steps = () => page.evaluate(() => history.length)
  const before = await steps()
  await page.getByRole('button', { name: zh('shell.toDark') }).click()
  await page.frameLocator('iframe').locator('html[data-theme="dark"]').waitFor()
  expect(await steps()).toBe(before)
  await page.goBack()
  await page.locator('.tg-home').waitFor()
  await close()
})

describe('the top bar', () => {
  it('links to the documentation only when the site has a valid address for it', async () => {
    const { page, close } = await open('/about')
    await page.getByText(zh('about.version')).waitFor()
    expect(await links(page)).toEqual([
      zh('shell.home'),
      zh('shell.console'),
      zh('shell.pricing'),
      zh('shell.about'),
    ])
    setStatus({ docs_link: 'https://docs.example/start' })
    await page.reload()
    await expect
      .poll(() => links(page))
      .toEqual([
        zh('shell.home'),
        zh('shell.console'),
        zh('shell.pricing'),
        zh('shell.docs'),
        zh('shell.about'),
      ])
    setStatus({ docs_link: 'javascript:alert(1)' })
    await page.reload()
    await expect
      .poll(() => links(page))
      .toEqual([zh('shell.home'), zh('shell.console'), zh('shell.pricing'), zh('shell.about')])
    await close()
  })

  it('has a warning below it when the connection is not encrypted', async () => {
    const { page, close } = await open('/login')
    const said = page.getByText(zh('request.plainHttp'))
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expect.poll(() => said.count()).toBe(0)
    await page.addInitScript(() =>
      Object.defineProperty(window, 'isSecureContext', { value: false }),
    )
    await page.reload()
    await said.waitFor()
    await close()
  })

  it('shows whether the site is a demo or for self-use', async () => {
    setStatus({ self_use_mode_enabled: true })
    const { page, close } = await open('/')
    await page.getByRole('banner').getByText(zh('shell.selfUse')).waitFor()
    await expect
      .poll(() =>
        page
          .getByRole('banner')
          .getByRole('link', { name: zh('shell.register') })
          .count(),
      )
      .toBe(0)
    setStatus({ demo_site_enabled: true })
    await page.reload()
    await page.getByRole('banner').getByText(zh('shell.demo')).waitFor()
    await close()
  })

  it('offers registration when it is open, but not on phones', async () => {
    const register = (page: Page) =>
      page.getByRole('banner').getByRole('link', { name: zh('shell.register') })
    setStatus({ register_enabled: true })
    const { page, close } = await open('/about')
    await expect.poll(() => register(page).getAttribute('href')).toBe('/register')
    await page.setViewportSize({ width: 390, height: 860 })
    await register(page).waitFor({ state: 'detached' })
    await page.setViewportSize({ width: 1280, height: 860 })
    setStatus({ register_enabled: false })
    await page.reload()
    await page.getByText(zh('about.version')).waitFor()
    await expect.poll(() => register(page).count()).toBe(0)
    await close()
  })

  it('becomes a menu on phones', async () => {
    const { page, close } = await open('/', { width: 390 })
    await page.getByRole('button', { name: zh('shell.menu') }).click()
    await page.getByRole('menuitem', { name: zh('shell.about') }).click()
    await page
      .getByRole('heading', { level: 1, name: zh('about.aboutSite', { name: 'Tallygate' }) })
      .waitFor()
    await close()
  })

  it.each([
    ['2027-01-01T12:00:00', 1],
    ['2026-12-31T12:00:00', 0],
  ])('has an account menu with a New Year greeting only on 1 January: %s', async (now, count) => {
    const opened = await app.openPage()
    await opened.page.clock.setFixedTime(new Date(now))
    const text = JSON.stringify(ROOT_USER)
    await opened.page.addInitScript((stored) => localStorage.setItem('user', stored), text)
    await opened.page.goto(`${app.site.url}/about`)
    await opened.page.getByText(zh('about.version')).waitFor()
    await opened.page.getByRole('button', { name: zh('shell.account') }).click()
    await opened.page.getByRole('menuitem', { name: zh('shell.logout') }).waitFor()
    await expect
      .poll(() => opened.page.getByRole('menuitem', { name: zh('shell.newYear') }).count())
      .toBe(count)
    await opened.close()
  })
})

describe('a server error', () => {
  it.each([
    [405, zh('request.noServer')],
    [500, zh('request.serverError')],
    [418, zh('request.other', { message: 'teapot' })],
  ])('with status %i has the message: %s', async (status, words) => {
    app.site.routes['POST /api/user/login'] = () => ({
      status,
      body: { success: false, message: 'teapot' },
    })
    const { page, close } = await open('/login')
    await page.getByLabel(zh('auth.username')).fill('root')
    await page.getByLabel(zh('auth.password'), { exact: true }).fill('correct horse')
    await page
      .locator('form')
      .getByRole('button', { name: zh('shell.login') })
      .click()
    await page.getByText(words, { exact: true }).waitFor()
    await close()
  })
})

describe('the footer', () => {
  /**
   * Opens the page while the server is down. From the nth read on, the browser's storage contains
   * the footer of the last visit.
   */
  const openWithFooter = async (nth: number) => {
    app.site.routes['GET /api/status'] = () => ({ status: 503, body: null })
    const opened = await app.openPage()
    await opened.page.clock.install()
    await opened.page.addInitScript((from) => {
      const read = Storage.prototype.getItem
      let looks = 0
      Storage.prototype.getItem = function (key) {
        if (key !== 'footer_html') return read.call(this, key)
        looks += 1
        document.documentElement.dataset.looks = String(looks)
        return looks >= from ? '<b>Kept</b>' : null
      }
    }, nth)
    await opened.page.goto(`${app.site.url}/about`)
    await opened.page.getByRole('contentinfo').waitFor()
    await opened.page.clock.runFor(10_000)
    return opened
  }

  it('names the software and links to the about page', async () => {
    const { page, close } = await open('/about')
    const link = page.getByRole('contentinfo').getByRole('link', { name: 'Tallygate' })
    await link.waitFor()
    await expect.poll(() => link.getAttribute('href')).toBe('/about')
    await close()
  })

  it('shows the stored footer while the status is unknown, after up to five retries', async () => {
    const found = await openWithFooter(6)
    await found.page.frameLocator('footer iframe').getByText('Kept').waitFor()
    await found.close()
    const late = await openWithFooter(7)
    await expect.poll(() => late.page.locator('html').getAttribute('data-looks')).toBe('6')
    await expect.poll(() => late.page.locator('footer iframe').count()).toBe(0)
    await late.close()
  })
})

describe('the pages of the operator and the about page', () => {
  for (const language of LANGUAGES) {
    it(`have no accessibility fault at two widths, in either theme: ${language}`, async () => {
      setStatus({ footer_html: '<a href="https://example.com">Example Ltd</a> · 2026' })
      const { page, faults, close } = await open('/about', { language })
      await page.frameLocator('footer iframe').getByText('Example Ltd').waitFor()
      expect.soft(await lookFaults(page, `about-${language}`, [1280, 390])).toEqual([])
      setPage('home_page_content', '# Welcome\n\n- one\n- two\n\n`code` and [a link](/about)')
      setPage('notice', 'Maintenance **tonight**')
      await page.goto(app.site.url)
      await page.frameLocator('article iframe').getByText('two').waitFor()
      expect.soft(await lookFaults(page, `own-home-${language}`, [1280, 390])).toEqual([])
      expect(faults).toEqual([])
      await close()
    })
  }
})
