import websocket from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import { getChannel } from './channels/get-channel.ts'
import { listChannelModels } from './channels/list-channel-models.ts'
import { listChannelRows } from './channels/list-channels.ts'
import { liveSocket } from './live/live-socket.ts'
import { listLogs } from './logs/list-logs.ts'
import { logStat } from './logs/log-stat.ts'
import { describeApi } from './openapi.ts'
import { listOptions } from './options/list-options.ts'
import { type ReadParts, typed } from './question.ts'
import { getSetup } from './status/get-setup.ts'
import { getStatus } from './status/get-status.ts'
import { getToken } from './tokens/get-token.ts'
import { listTokenRows } from './tokens/list-tokens.ts'
import { usageData } from './usage/usage-data.ts'
import { getSelf } from './users/get-self.ts'
import { getUser } from './users/get-user.ts'
import { listGroups } from './users/list-groups.ts'
import { listUserModels } from './users/list-user-models.ts'
import { listUserRows } from './users/list-users.ts'

/** Every question that can be asked, and the live socket. */
const QUESTIONS = [
  getStatus,
  getSetup,
  getSelf,
  listUserModels,
  listGroups,
  listUserRows,
  getUser,
  listChannelModels,
  listChannelRows,
  getChannel,
  listTokenRows,
  getToken,
  listOptions,
  listLogs,
  logStat,
  usageData,
  liveSocket,
  describeApi,
]

export const MESSAGE_BYTES_MAX = 4_096

/** Registers the read side of the management API on the app. */
export async function readApi(app: FastifyInstance, parts: ReadParts): Promise<void> {
  await app.register(websocket, {
    options: { maxPayload: MESSAGE_BYTES_MAX, perMessageDeflate: false },
  })
  for (const question of QUESTIONS) question(typed(app), parts)
}
