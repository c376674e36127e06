export const about = {
  title: '关于',
  own: '关于 {{name}}',
  lead: '{{name}} 运行于 Tallygate：自托管、事件溯源的 AI 模型 API 网关。',
  plainLead: '自托管、事件溯源的 AI 模型 API 网关。',
  exact: '每一次调用、每一笔额度变动都是一条不可更改的事件，账单因此可以逐笔复核。',
  what: '本站所用系统',
  version: '版本',
  started: '启动时间',
  licence: '许可证',
}
