import { ALWAYS_RECORDED, WITH_LOOK_UP } from '../notes-for-options-without-effect.ts'
import type { OptionSection } from '../option-definition.ts'
import { FLAG, integer, lines, type OptionType, URL_TEXT } from '../option-type.ts'

export const SITE: OptionSection = {
  id: 'site',
  tab: 'system',
  title: { zh: '站点', en: 'Site' },
  lead: { zh: '对外地址与使用模式。', en: 'Its address and how it is used.' },
  options: [
    {
      key: 'ServerAddress',
      type: URL_TEXT,
      preset: '',
      access: 'root',
      label: { zh: '服务器地址', en: 'Public address' },
      help: {
        zh: '接入代码中使用的对外地址，留空则用当前地址。',
        en: 'Used in snippets and links; empty: the address in the browser.',
      },
    },
    {
      key: 'SelfUseModeEnabled',
      type: FLAG,
      preset: 'false',
      access: 'root',
      label: { zh: '自用模式', en: 'Self-use mode' },
      help: {
        zh: '隐藏注册入口；没有价格的模型按倍率 37.5 计费。',
        en: 'Registration is not offered; models without a price are charged at ratio 37.5.',
      },
    },
    {
      key: 'DemoSiteEnabled',
      type: FLAG,
      preset: 'false',
      access: 'root',
      label: { zh: '演示站点模式', en: 'Demo site' },
    },
  ],
}

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
        en: 'HTML. Scripts are removed before it is shown.',
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

const STEPS: OptionType = { kind: 'choice', choices: ['hour', 'day', 'week'] }

export const STATISTICS: OptionSection = {
  id: 'statistics',
  tab: 'other',
  title: { zh: '日志与数据看板', en: 'Logs and dashboard' },
  options: [
    {
      key: 'LogConsumeEnabled',
      type: FLAG,
      preset: 'true',
      label: { zh: '启用额度消费日志记录', en: 'Keep usage logs' },
      note: ALWAYS_RECORDED,
    },
    {
      key: 'DataExportEnabled',
      type: FLAG,
      preset: 'true',
      label: { zh: '启用数据看板', en: 'Dashboard' },
    },
    {
      key: 'DataExportInterval',
      type: integer(1, 1_440),
      preset: '5',
      unit: 'minute',
      label: { zh: '数据看板更新间隔', en: 'Dashboard refresh' },
      help: {
        zh: '实时连接中断时，数据看板每隔这么久重新读取一次。',
        en: 'How often the dashboard is read again while its live connection is away.',
      },
    },
    {
      key: 'DataExportDefaultTime',
      type: STEPS,
      preset: 'hour',
      label: { zh: '数据看板默认时间粒度', en: 'Step of the dashboard' },
      choiceWords: {
        hour: { zh: '小时', en: 'Hour' },
        day: { zh: '天', en: 'Day' },
        week: { zh: '周', en: 'Week' },
      },
      help: {
        zh: '打开数据看板时的粒度；范围随之为 24 小时、30 天或 90 天。',
        en: 'As the dashboard opens; its range follows: 24 hours, 30 days or 90 days.',
      },
    },
    {
      key: 'DisplayTokenStatEnabled',
      type: FLAG,
      preset: 'true',
      label: { zh: '额度查询接口返回令牌额度', en: 'Keys may look up their own quota' },
      help: {
        zh: '关闭后，额度查询接口返回用户额度。',
        en: 'Otherwise the look-up by a key answers the user’s quota.',
      },
      note: WITH_LOOK_UP,
    },
  ],
}

export const UPDATE: OptionSection = {
  id: 'update',
  tab: 'other',
  title: { zh: '检查更新', en: 'Update check' },
  lead: {
    zh: '只读取下面的地址，不发送任何关于本站的信息。',
    en: 'Reads the address below and sends nothing about this site.',
  },
  options: [
    {
      key: 'UpdateCheckUrl',
      type: URL_TEXT,
      isOutboundAddress: true,
      preset: '',
      access: 'root',
      label: { zh: '最新版本的地址', en: 'Address of the latest release' },
      help: {
        zh: '返回 JSON，其中 tag_name 为版本号，body 为更新说明。',
        en: 'Answers JSON with tag_name (the version) and body (what is new).',
      },
    },
    {
      key: 'UpdateCheckEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '打开系统设置时自动检查', en: 'Check when the settings are opened' },
      help: { zh: '每天至多一次。', en: 'Once a day at most.' },
    },
  ],
}
