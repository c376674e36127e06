export const auth = {
  title: '登录',
  welcome: '登录到 {{name}}',
  lead: '管理渠道、令牌与用量',
  username: '用户名或邮箱',
  password: '密码',
  submit: '登录',
  needBoth: '请输入用户名和密码！',
  expired: '未登录或登录已过期，请重新登录！',
  success: '登录成功！',
  loggedOut: '注销成功！',
  defaultPassword: '您正在使用默认密码！ 请立刻修改默认密码！',
  repeated: '提交失败，请勿重复提交！',
}
