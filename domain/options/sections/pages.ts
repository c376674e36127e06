import { lines } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

export const PAGES: OptionSection = {
  id: 'pages',
  tab: 'other',
  title: { zh: '页面内容', en: 'Pages' },
  lead: { zh: '支持 Markdown 与 HTML。', en: 'Markdown or HTML.' },
  options: [
    {
      key: 'Notice',
      type: lines(200_000),
      preset: '',
      label: { zh: '公告', en: 'Notice' },
    },
    {
      key: 'HomePageContent',
      type: lines(200_000),
      preset: '',
      label: { zh: '首页内容', en: 'Home page' },
      help: { zh: '留空则显示默认首页。', en: 'Empty: the home page as it comes.' },
    },
    {
      key: 'About',
      type: lines(200_000),
      preset: '',
      label: { zh: '关于', en: 'About page' },
    },
  ],
}
