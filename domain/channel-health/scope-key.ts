import type { CircuitScope } from './events.ts'

/** Names a circuit among those of its channel. References have no bar, so the first one parts. */
export const scopeKey = ({ model, keyRef }: Omit<CircuitScope, 'channelId'>): string =>
  `${keyRef ?? ''}|${model === null ? '' : `=${model}`}`
