import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { LANGUAGES, lookFaults } from '../support/accessibility-faults.ts'
import { openAsRoot } from '../support/admin-site.ts'
import { siteFixture } from '../support/console-fixture.ts'

type Screen = { name: string; path?: string; open: (page: Page) => Promise<void> }

const press = (page: Page, name: RegExp) => page.getByRole('button', { name }).first().click()
const choose = (page: Page, name: RegExp) => page.getByRole('menuitem', { name }).click()
const WIDTHS = { zh: [1280], en: [390] }

const SCREENS: readonly Screen[] = [
  {
    name: 'channel-tags',
    open: async (page) => {
      await press(page, /标签聚合|By tag/)
      await press(page, /展开标签|Show channels/)
      await press(page, /批量操作|^Select$/)
    },
  },
  {
    name: 'channel-edit',
    path: '/channel/edit/3',
    open: async (page) => {
      await page.getByText(/上游返回 401|Provider answered 401/).waitFor()
      await press(page, /路由与限制|Routing/)
      await press(page, /映射与覆盖|Mappings/)
    },
  },
  {
    name: 'channel-models',
    path: '/channel/edit/1',
    open: async (page) => {
      await press(page, /获取模型列表|Fetch from/)
      await page.getByRole('dialog', { name: /选择模型|Choose models/ }).waitFor()
    },
  },
  {
    name: 'channel-test',
    open: async (page) => {
      await press(page, /^OpenAI main 的更多|^More actions for OpenAI main/)
      await choose(page, /测试模型|Test models/)
      await press(page, /^测试 o3|^Test o3/)
      await page
        .getByText(/失败|Failed/)
        .first()
        .waitFor()
    },
  },
  {
    name: 'channel-tag-editor',
    open: async (page) => {
      await press(page, /标签聚合|By tag/)
      await press(page, /标签 primary 的更多|More actions for the tag/)
      await choose(page, /编辑标签|Edit tag/)
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'channel-batch-tag',
    open: async (page) => {
      await press(page, /批量操作|^Select$/)
      await page.getByRole('checkbox').first().click()
      await press(page, /设置标签|Set tag/)
      await page.getByRole('dialog').waitFor()
    },
  },
]

const app = siteFixture()

describe('the channels page, its views and its dialogs', () => {
  for (const language of LANGUAGES) {
    it(`are accessible in either theme: ${language}`, { timeout: 120_000 }, async () => {
      // One page for all: what it has read and compiled once need not be again.
      const { page, faults, close } = await app.openPage({ language })
      for (const { name, path = '/admin/channels', open } of SCREENS) {
        await openAsRoot(page, app.site, path)
        await page.locator('.tg-grid-body').first().waitFor()
        await open(page)
        const looks = await lookFaults(page, `${name}-${language}`, WIDTHS[language])
        expect.soft(looks, name).toEqual([])
        expect(faults).toEqual([])
        // The next opens as in a browser that was never here: wide, without a choice of this one.
        await page.evaluate(() => localStorage.clear())
        await page.setViewportSize({ width: 1280, height: 860 })
      }
      await close()
    })
  }
})
