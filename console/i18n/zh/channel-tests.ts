export const channelTests = {
  title: '测试渠道「{{name}}」',
  lead: '向上游发送一个最短的对话，会消耗少量上游额度。',
  search: '搜索模型',
  usual: '默认',
  test: '测试',
  testModel: '测试 {{model}}',
  testFound: '全部测试（{{count}}）',
  running: '测试中…',
  failed: '失败',
  progress: '正在测试所有渠道：{{tested}}/{{total}}，失败 {{failed}}',
  progressLabel: '测试进度',
  allDone: '已测试 {{tested}} 个渠道，失败 {{failed}} 个',
}
