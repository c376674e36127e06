import { type ErrorCatalogue, errorsOf } from '#infra/http/http-error-class-and-catalogue.ts'

type Code =
  | 'CallUnknown'
  | 'EventUnknown'
  | 'ObjectUnknown'
  | 'AtInvalid'
  | 'RangeInvalid'
  | 'NothingSealed'
  | 'TileUnknown'
  | 'NoWitness'
  | 'SizeInvalid'
  | 'EventChanged'
  | 'TileMissing'
  | 'ReconciliationBehind'

const AUDIT_ERRORS: ErrorCatalogue<Code> = {
  CallUnknown: [404, { zh: '该请求不存在', en: 'There is no such call' }],
  EventUnknown: [404, { zh: '该位置没有可查看的事件', en: 'There is no such event' }],
  ObjectUnknown: [404, { zh: '该对象不存在', en: 'There is no such object' }],
  NothingSealed: [404, { zh: '尚无已签名的检查点', en: 'There is no signed checkpoint yet' }],
  TileUnknown: [404, { zh: '该数据块不存在', en: 'There is no such tile' }],
  NoWitness: [404, { zh: '本站不是见证方', en: 'This site is not a witness' }],
  AtInvalid: [
    400,
    ({ field = 'at' }) => ({
      zh: `参数 ${field} 无效：应为事件位置或 ISO 8601 时间`,
      en: `Invalid field ${field}: must be a position or a time in ISO 8601`,
    }),
  ],
  SizeInvalid: [
    400,
    ({ field = '', max = 0 }) => ({
      zh: `参数 ${field} 无效：最大为 ${max}`,
      en: `Invalid field ${field}: must be at most ${max}`,
    }),
  ],
  EventChanged: [
    409,
    ({ position = 0 }) => ({
      zh: `位置 ${position} 的事件与透明日志中的记录不一致`,
      en: `The event at position ${position} is not the one in the transparency log`,
    }),
  ],
  TileMissing: [
    409,
    ({ tile = '' }) => ({
      zh:
        `透明日志的数据块 ${tile} 缺失，无法出具收据：` +
        '请管理员运行 npm run audit -- rebuild-tiles，从事件重建数据块',
      en:
        `Tile ${tile} of the transparency log is missing, so there is no proof: ` +
        'an admin rebuilds it from the events with npm run audit -- rebuild-tiles',
    }),
  ],
  ReconciliationBehind: [
    503,
    {
      zh: '账单对比尚未更新，请稍后再试',
      en: 'The comparison is not up to date. Try again later',
    },
  ],
  RangeInvalid: [
    400,
    ({ field = '', max = 0 }) => ({
      zh: `参数 ${field} 无效：一次最多 ${max} 个版本，且结束不早于开始`,
      en: `Invalid field ${field}: a range has 1 to ${max} revisions in ascending order`,
    }),
  ],
}

export const auditError = errorsOf(AUDIT_ERRORS)
