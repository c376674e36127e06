import { channelForm } from './channel-form.ts'
import { channelTags } from './channel-tags.ts'
import { channelTests } from './channel-tests.ts'
import { channels } from './channels.ts'
import { commands } from './commands.ts'
import { entryWords } from './entry-words.ts'
import { health } from './health.ts'
import { inbox } from './inbox.ts'
import { me } from './me.ts'
import { playground } from './playground.ts'
import { security } from './security.ts'
import { timeRange } from './time-range.ts'
import { tokens } from './tokens.ts'
import { usageLog } from './usage-log.ts'
import { wallet } from './wallet.ts'

/** Words that several areas share. A word with another meaning has its own key. */
const words = {
  username: '用户名',
  passwordLength: '8 到 128 位',
  channelHealth: '渠道健康',
  orders: '充值订单',
  copyLink: '复制此视图的链接',
  actions: '操作',
  anyStatus: '全部状态',
  id: 'ID',
  name: '名称',
  status: '状态',
  key: '密钥',
  quota: '额度',
  expires: '过期时间',
  created: '创建时间',
  never: '永不过期',
  enableNamed: '启用 {{name}}',
  moreActions: '{{name}} 的更多操作',
  delete: '删除',
  enableChosen: '启用所选',
  disableChosen: '禁用所选',
  deleteChosen: '删除所选',
  enabledNamed: '已启用「{{name}}」',
  disabledNamed: '已禁用「{{name}}」',
  saveChanges: '保存修改',
  saved: '保存成功',
  basics: '基本信息',
  usualAmounts: '常用额度',
  zeroMeansNoLimit: '0 表示不限制。',
  done: '完成',
  filtersCount: '筛选（{{count}}）',
  allGroups: '全部分组',
  type: '类型',
  newChannel: '新建渠道',
  balance: '余额',
  testFailed: '测试失败：{{reason}}',
  setTag: '设置标签',
  noChannels: '还没有渠道',
  noChannelMatches: '没有匹配的渠道',
  unchanged: '没有任何修改！',
  baseUrl: '接口地址',
  searchModels: '搜索模型',
  test: '测试',
  testing: '测试中…',
  failed: '失败',
  details: '查看详情',
  timeRange: '时间范围',
  channel: '渠道',
  asTable: '以表格查看',
  asChart: '以图表查看',
  time: '时间',
  messages: '消息列表',
  currentBalance: '当前余额',
  requests: '请求次数',
  account: '账户',
  settings: '设置',
  saveSettings: '保存设置',
  save: '保存',
  calls: '调用次数',
  requestId: '请求 ID',
  channelId: '渠道 ID',
  user: '用户',
  showAllTime: '查看全部时间',
  send: '发送',
  topUpCode: '充值码',
  moreFor: '{{name}} 的更多操作',
  byModel: '按模型',
  margin: '毛利',
  userId: '用户 ID',
  end: '结束',
  searchAction: '查询',
  displayName: '显示名称',
  quotaUnits: '{{quota}} 额度单位',
  noReason: '未填写原因',
}

/** One line per area. */
export const zh = {
  ...entryWords,
  words,
  commands,
  tokens,
  channels,
  channelForm,
  channelTags,
  channelTests,
  health,
  inbox,
  me,
  security,
  timeRange,
  usageLog,
  playground,
  wallet,
}
