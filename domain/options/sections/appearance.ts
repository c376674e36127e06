import { FLAG, lines, URL_TEXT } from '../option-type.ts'
import type { OptionSection } from '../schema.ts'

export const APPEARANCE: OptionSection = {
  id: 'appearance',
  tab: 'other',
  title: { zh: '个性化设置', en: 'Appearance' },
  lead: { zh: '所有访客看到的名称与链接。', en: 'What every visitor sees.' },
  options: [
    {
      key: 'SystemName',
      type: { kind: 'text', maxLength: 100, isRequired: true },
      preset: 'Tallygate',
      label: { zh: '系统名称', en: 'Name of this site' },
      help: { zh: '显示在标题栏和登录页。', en: 'In titles and on the login page.' },
    },
    {
      key: 'Logo',
      type: URL_TEXT,
      preset: '',
      label: { zh: 'Logo 图片地址', en: 'Logo address' },
    },
    {
      key: 'general_setting.docs_link',
      type: URL_TEXT,
      preset: '',
      label: { zh: '文档链接', en: 'Link to the documentation' },
      help: { zh: '顶部导航中的外部文档。', en: 'In the top bar.' },
    },
    {
      key: 'Footer',
      type: lines(20_000),
      preset: '',
      label: { zh: '页脚', en: 'Footer' },
      help: {
        zh: '支持 HTML，显示前会去除脚本。',
        en: 'HTML; scripts are taken out before it is shown.',
      },
    },
    {
      key: 'DefaultCollapseSidebar',
      type: FLAG,
      preset: 'false',
      label: { zh: '默认折叠侧边栏', en: 'Start with a narrow sidebar' },
    },
  ],
}
