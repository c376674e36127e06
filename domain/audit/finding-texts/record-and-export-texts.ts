/** The texts of the findings about single records and about their order. */
export const RECORD_TEXTS = {
  DataInvalid: ({ type, reason }: { type: string; reason: string }) => ({
    zh: `${type} 的数据无效：${reason}`,
    en: `${type} has invalid data: ${reason}`,
  }),
  FieldInvalid: ({ type, field }: { type: string; field: string }) => ({
    zh: `${type} 的字段 ${field} 缺失或格式错误`,
    en: `the field ${field} of ${type} is missing or invalid`,
  }),
  DataNotJson: { zh: '事件数据不是有效的 JSON', en: 'the data is not valid JSON' },
  DataNotObject: { zh: '事件数据不是对象', en: 'the data is not an object' },
  LineNotRecord: { zh: '该行不是事件记录', en: 'the line is not an event record' },
  Unreadable: ({ reason }: { reason: string }) => ({
    zh: `无法读取：${reason}`,
    en: `cannot be read: ${reason}`,
  }),
  VerificationStopped: ({ reason }: { reason: string }) => ({
    zh: `核验中途出错，未能完成后续检查：${reason}`,
    en: `the verification stopped early, so the remaining checks were not made: ${reason}`,
  }),
  PositionNotNext: ({ last }: { last: number }) => ({
    zh: `紧接在序号 ${last} 之后，事件序号不连续`,
    en: `directly follows position ${last}, so the positions are not consecutive`,
  }),
  RevisionNotNext: ({ last }: { last: number }) => ({
    zh: `紧接在流内序号 ${last} 之后，流内序号不连续`,
    en: `directly follows revision ${last}, so the revisions of the stream are not consecutive`,
  }),
  RevisionNotFirst: {
    zh: '该事件流之前没有事件，但流内序号不是 0',
    en: 'is the first event of its stream, but its revision is not 0',
  },
  LastRevisionMissing: ({ revision }: { revision: number | string }) => ({
    zh: `最后一个事件（流内序号 ${revision}）缺失`,
    en: `the last event (revision ${revision}) is missing`,
  }),
  VerifiedEventsMissing: ({ first, last }: { first: number; last: number }) => ({
    zh: `序号 ${first} 到 ${last} 的事件此前已核验，现已缺失`,
    en: `the events from position ${first} to ${last} were verified earlier, but are now missing`,
  }),
  LastEventsMissing: ({ head, last }: { head: number; last: number }) => ({
    zh: `事件存储记录的最后序号是 ${head}，但最后一个事件的序号是 ${last}`,
    en:
      `the event store records ${head} as its last position, ` +
      `but the last event is at position ${last}`,
  }),
}

/** The texts of the findings about the files of an export. */
export const EXPORT_TEXTS = {
  FileMissing: ({ file }: { file: string }) => ({
    zh: `缺少文件 ${file}`,
    en: `${file} is missing`,
  }),
  FileDiffers: ({ file }: { file: string }) => ({
    zh: `文件 ${file} 与清单中的哈希不一致`,
    en: `${file} differs from its hash in the manifest`,
  }),
  FileNotDecompressible: ({ file }: { file: string }) => ({
    zh: `文件 ${file} 无法解压`,
    en: `${file} cannot be decompressed`,
  }),
  FileTooLarge: ({ file, max }: { file: string; max: number }) => ({
    zh: `文件 ${file} 超过 ${max} 字节`,
    en: `${file} has more than ${max} bytes`,
  }),
  LinesTooMany: ({ file, max }: { file: string; max: number }) => ({
    zh: `文件 ${file} 超过 ${max} 行`,
    en: `${file} has more than ${max} lines`,
  }),
  LineTooLong: ({ file, max }: { file: string; max: number }) => ({
    zh: `文件 ${file} 中有一行超过 ${max} 字节`,
    en: `${file} has a line of more than ${max} bytes`,
  }),
  LineUnreadable: ({ file, line, reason }: { file: string; line: number; reason: string }) => ({
    zh: `文件 ${file} 的第 ${line} 个事件：${reason}`,
    en: `event ${line} of ${file}: ${reason}`,
  }),
  EventOutsideFile: ({ file }: { file: string }) => ({
    zh: `不在文件 ${file} 的范围内`,
    en: `is not in the range of ${file}`,
  }),
  FileEventsDiffer: ({ file, events, named }: { file: string; events: number; named: number }) => ({
    zh: `文件 ${file} 有 ${events} 个事件，应为 ${named} 个`,
    en: `${file} has ${events} events instead of ${named}`,
  }),
  ExportEventsDiffer: ({ named, events }: { named: number; events: number }) => ({
    zh: `清单记录了 ${named} 个事件，但各分段共有 ${events} 个`,
    en: `the manifest names ${named} events, but the segments have ${events}`,
  }),
}
