/** The texts for failed requests and for a server that does not respond. */
export const request = {
  failed: '请求失败',
  network: '错误：网络连接失败，请检查网络后重试',
  noServer: '本站仅作演示之用，无服务端！',
  serverError: '错误：服务器内部错误，请联系管理员！',
  other: '错误：{{message}}',
  requestId: '请求编号',
  retryIn: '{{seconds}} 秒后可重试',
  plainHttp: '当前通过未加密的 HTTP 访问，密码和密钥可能被他人截获，请改用 HTTPS。',
  health: {
    offline: '您已离线，恢复连接后会自动更新。',
    unreachable: '无法连接到服务器，显示的内容可能已过时。',
    busy: '错误：请求次数过多，请稍后再试！',
    down: '服务器暂时不可用，正在重试。',
  },
} as const
