export const channelTags = {
  title: '编辑标签「{{tag}}」',
  lead: '修改会应用到该标签下的全部 {{count}} 个渠道；留空的项目各渠道保持不变。',
  newTag: '标签名称',
  newTagHint: '清空则移除这些渠道的标签。',
  keepHint: '留空则不修改。',
  saved: '已修改 {{count}} 个渠道',
  batchTitle: '为所选的 {{count}} 个渠道设置标签',
  batchHint: '原有的标签会被替换。',
}
