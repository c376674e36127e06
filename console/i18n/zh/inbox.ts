export const inbox = {
  lead: '管理员发给您的消息。',
  unread: '未读',
  loadFailed: '加载消息失败',
  missing: '消息不存在',
  empty: '暂无消息',
  emptyBody: '管理员发送的消息会显示在这里。',
  emptyPage: '这一页没有消息',
  firstPage: '回到第一页',
  back: '返回收件箱',
  opening: '消息',
  content: '消息内容',
}
