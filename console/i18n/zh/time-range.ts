export const timeRange = {
  span: {
    '1h': '最近 1 小时',
    today: '今天',
    '24h': '最近 24 小时',
    '7d': '最近 7 天',
    '30d': '最近 30 天',
    all: '全部时间',
  },
  from: '开始时间',
  to: '结束时间',
  zone: '时区：{{zone}}',
  apply: '应用',
  fault: '请填写两个时间，且开始不晚于结束',
}
