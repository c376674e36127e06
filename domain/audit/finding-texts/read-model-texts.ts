import { type Amount, BALANCE_NAMES, type BalanceName } from './names-in-finding-texts.ts'

/** Identifies a row of a read model by its table and its key. */
type RowParams = { readModel: string; table: string; row: string }

/**
 * The texts of the findings about read models, which are compared with a new fold of the events.
 */
export const READ_MODEL_TEXTS = {
  SnapshotChanged: {
    zh: '该事件流的快照在数据库中被修改，不会被使用：请删除 snapshots.states 中的这一行',
    en:
      'the snapshot of the stream was changed in the database and is not used: ' +
      'delete its row in snapshots.states',
  },
  ReadModelsAhead: (params: { reached: number; head: number; readModels: string }) => {
    const { reached, head, readModels } = params
    return {
      zh: `读模型已读到序号 ${reached}，但这里只有 ${head} 个事件。以下读模型已停止更新，需要重建：${readModels}`,
      en:
        `read models have read up to ${reached}, but only ${head} events are here. ` +
        `They stopped until a rebuild: ${readModels}`,
    }
  },
  EventsNotFoldable: ({ reason }: { reason: string }) => ({
    zh: `无法由事件重算读模型：${reason}`,
    en: `the events can't be folded: ${reason}`,
  }),
  ReadModelDiffers: ({ readModel, tables }: { readModel: string; tables: string }) => ({
    zh: `读模型 ${readModel} 与由事件重算的结果不一致：${tables}。请重建`,
    en: `${readModel} differs from a new fold of the events: ${tables}. Rebuild it`,
  }),
  ReadModelRowDiffers: (params: RowParams & { columns: string }) => {
    const { readModel, table, row, columns } = params
    return {
      zh: `读模型 ${readModel} 的 ${table}（${row}）与事件不一致：${columns}`,
      en: `${readModel}: the row of ${table} with ${row} differs from the events in ${columns}`,
    }
  },
  ReadModelRowMissing: ({ readModel, table, row }: RowParams) => ({
    zh: `读模型 ${readModel} 的 ${table} 缺少记录（${row}）`,
    en: `${readModel}: the row of ${table} with ${row} is missing`,
  }),
  ReadModelRowUnexpected: ({ readModel, table, row }: RowParams) => ({
    zh: `读模型 ${readModel} 的 ${table} 有一条没有对应事件的记录（${row}）`,
    en: `${readModel}: no event gives the row of ${table} with ${row}`,
  }),
  ReadModelRowsNotComparable: ({ readModel, reason }: { readModel: string; reason: string }) => ({
    zh: `读模型 ${readModel} 无法逐条比对：${reason}`,
    en: `the rows of ${readModel} can't be compared one by one: ${reason}`,
  }),
  BalancesNotCompared: ({ position }: { position: number }) => ({
    zh: `读模型 balances 没有及时读到序号 ${position}，余额未比对`,
    en: `balances did not reach position ${position} in time, so they were not compared`,
  }),
  BalanceRowDiffers: (params: {
    balance: BalanceName
    userId: string
    found: Amount
    expected: Amount
  }) => {
    const { balance, userId, found, expected } = params
    return {
      zh: `balances：用户 ${userId} 的${BALANCE_NAMES[balance]}是 ${found}，按变动计算应为 ${expected}`,
      en: `balances: ${balance} of user ${userId} is ${found}, but the movements give ${expected}`,
    }
  },
  BalanceRowMissing: ({ userId }: { userId: string }) => ({
    zh: `balances：缺少用户 ${userId} 的记录`,
    en: `balances: the row of user ${userId} is missing`,
  }),
}
