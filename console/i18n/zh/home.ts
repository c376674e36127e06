export const home = {
  title: '首页',
  headline: '一个网关，接入所有模型',
  lead: '统一的 OpenAI 兼容接口，每一次调用精确计费、实时可见，数据全部留在你自己的服务器上。',
  openConsole: '进入控制台',
  snippetTitle: '把 SDK 指向这里',
  snippetLead: '只需替换地址和密钥，其余代码不变。',
  exactTitle: '精确到每一个单位',
  exactBody: '余额是一本账：每次调用先冻结、后结算，绝不透支，也不会重复扣费。',
  liveTitle: '实时可见',
  liveBody: '调用结束的那一刻就出现在日志里：模型、tokens 数、首字时间与价格明细。',
  yoursTitle: '完全自托管',
  yoursBody: '一条命令启动，密钥加密存储，断电重启也不丢一条记录。',
}
