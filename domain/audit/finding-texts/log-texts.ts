import { CHECKPOINT_NAMES, type CheckpointSource } from './names-in-finding-texts.ts'

/** Identifies a checkpoint by its source and by the number of events that it covers. */
type Checkpoint = { source: CheckpointSource; size: number }
type TileRange = { firstTile: number; lastTile: number; first: number; last: number }
/**
 * A range of positions in which at least one event differs. The last matching checkpoint covers
 * `agreed` events and ends before `from`. The first differing checkpoint covers `size` events and
 * ends at `to`. `count` is the number of successive checkpoints that differ.
 */
type DifferingRange = { from: number; to: number; agreed: number; size: number; count: number }
type OfOtherLog = Checkpoint & { origin: string; key: string }

/**
 * The texts of the findings about events that differ from the events that were sealed in the
 * transparency log.
 */
const LOG_CONTENT_TEXTS = {
  EventDiffersFromSeal: {
    zh: '事件与封存时不一致',
    en: 'the event differs from the one that was sealed at this place',
  },
  SealedHashMissing: {
    zh: '透明日志中缺少此事件封存时的哈希',
    en: 'the hash with which the event was sealed is missing from the log',
  },
  EventRemoved: { zh: '事件已被删除', en: 'the event was removed' },
  EventsRemoved: ({ count }: { count: number }) => ({
    zh: `从此处起有 ${count} 个事件被删除`,
    en: `${count} events from here on were removed`,
  }),
  LeavesRemoved: ({ leaf }: { leaf: number }) => ({
    zh: `从第 ${leaf} 叶起的事件已被删除`,
    en: `the events from leaf ${leaf} on were removed`,
  }),
  LeafDiffers: ({ leaf }: { leaf: number }) => ({
    zh: `该事件不是第 ${leaf} 叶：事件被修改，或之前有事件被删除`,
    en: `the event is not leaf ${leaf}: it was changed, or one before it was removed`,
  }),
  TileMissing: ({ tile, first, last }: { tile: string; first: number; last: number }) => ({
    zh: `透明日志的数据块 ${tile} 缺失或不完整，其中应有第 ${first} 至 ${last} 个事件封存时的哈希`,
    en:
      `tile ${tile} of the log is missing or incomplete: it has the sealed hashes of the events ` +
      `number ${first} to ${last}`,
  }),
  TilesMissing: ({ firstTile, lastTile, first, last }: TileRange) => ({
    zh:
      `透明日志的数据块 ${firstTile} 至 ${lastTile} 缺失或不完整，` +
      `其中应有第 ${first} 至 ${last} 个事件封存时的哈希`,
    en:
      `tiles ${firstTile} to ${lastTile} of the log are missing or incomplete: they have the ` +
      `sealed hashes of the events number ${first} to ${last}`,
  }),
  RootTileMissing: ({ size, tile }: { size: number; tile: string }) => ({
    zh: `透明日志的数据块 ${tile} 缺失或不完整，因此无法比对前 ${size} 个事件的树`,
    en:
      `the tree of the first ${size} events cannot be compared, because tile ${tile} of the log ` +
      'is missing or incomplete',
  }),
  RebuiltTileDiffers: ({ tile, first, last }: { tile: string; first: number; last: number }) => ({
    zh: `由第 ${first} 至 ${last} 个事件重建的数据块 ${tile} 与封存时不一致：事件被修改或删除`,
    en:
      `tile ${tile}, rebuilt from the events number ${first} to ${last}, is not the one that was ` +
      'sealed: an event was changed or removed',
  }),
  TileDiffers: ({ tile, position }: { tile: string; position: number }) => ({
    zh: `数据块 ${tile} 的哈希与上层数据块不一致（起始序号 ${position}）`,
    en: `the hashes of tile ${tile} differ from the tile above (at position ${position})`,
  }),
  EventsNotSealed: ({ size }: { size: number }) => ({
    zh: `只封存了前 ${size} 个事件，此事件及之后的事件尚未封存`,
    en: `only ${size} events are sealed, not this one and the ones after it`,
  }),
  SealedEventsMissing: ({ sealed, events }: { sealed: number; events: number }) => ({
    zh: `已封存 ${sealed} 个事件，但现在只有 ${events} 个`,
    en: `${sealed} events were sealed, but only ${events} are here`,
  }),
  EarlierRootDiffers: ({ size }: { size: number }) => ({
    zh: `此次核验当时看到的是另一份 ${size} 个事件的透明日志`,
    en: `this verification had found another log of ${size} events`,
  }),
  WitnessRefused: ({ witness, size }: { witness: string; size: number }) => ({
    zh: `见证人 ${witness} 签名过另一份 ${size} 个事件的历史`,
    en: `the witness ${witness} has signed another history of ${size} events`,
  }),
  WitnessAcknowledged: ({ witness, size }: { witness: string; size: number }) => ({
    zh: `见证人 ${witness} 签名过另一份 ${size} 个事件的历史，管理员已确认知悉`,
    en:
      `the witness ${witness} has signed another history of ${size} events; ` +
      'an admin acknowledged it',
  }),
  WitnessUnreadable: {
    zh: '某位见证人签名过另一份历史，记录其名称的事件无法读取',
    en: 'a witness has signed another history, and the event that names it cannot be read',
  },
  VerifiedLogDiffers: ({ size }: { size: number }) => ({
    zh: `前 ${size} 个事件的透明日志与此前核验过的不一致`,
    en: `the log of the first ${size} events is not the one that was verified before`,
  }),
}

/** The texts of the findings about signed checkpoints: their format, signatures and roots. */
const CHECKPOINT_TEXTS = {
  CheckpointUnsigned: ({ source }: Pick<Checkpoint, 'source'>) => ({
    zh: `${CHECKPOINT_NAMES[source].zh}没有签名`,
    en: `${CHECKPOINT_NAMES[source].en} is not signed`,
  }),
  CheckpointIncomplete: ({ source }: Pick<Checkpoint, 'source'>) => ({
    zh: `${CHECKPOINT_NAMES[source].zh}缺少日志名称、事件数或树根`,
    en: `${CHECKPOINT_NAMES[source].en} has no origin, size and root`,
  }),
  SignatureMalformed: ({ source }: Pick<Checkpoint, 'source'>) => ({
    zh: `${CHECKPOINT_NAMES[source].zh}的签名格式错误`,
    en: `a signature of ${CHECKPOINT_NAMES[source].en} has a wrong form`,
  }),
  StoredCheckpointMalformed: ({ size, position }: { size: number; position: number }) => ({
    zh: `${size} 个事件的检查点格式错误（序号 ${position}）`,
    en: `the checkpoint of ${size} events is malformed (at position ${position})`,
  }),
  EventsDifferFromCheckpoints: ({ from, to, agreed, size, count }: DifferingRange) => ({
    zh:
      `序号 ${from} 至 ${to} 的事件被修改，或检查点被修改：大小为 ${agreed} 的树一致，` +
      `大小为 ${size} 的不一致（共 ${count} 个检查点不一致）`,
    en:
      `the events from position ${from} to ${to} were changed, or the checkpoints were: the tree ` +
      `of size ${agreed} agrees, that of size ${size} does not (${count} checkpoints differ)`,
  }),
  TilesDifferFromCheckpoints: ({ from, to, agreed, size, count }: DifferingRange) => ({
    zh:
      `序号 ${from} 至 ${to} 的事件封存时的哈希被修改，或检查点被修改：` +
      `数据块在大小 ${agreed} 处与检查点一致，在大小 ${size} 处不一致（共 ${count} 个检查点不一致）`,
    en:
      `the sealed hashes of the events from position ${from} to ${to} were changed, or the ` +
      `checkpoints were: the tiles agree at size ${agreed}, and not at size ${size} ` +
      `(${count} checkpoints differ)`,
  }),
  StoredCheckpointDiffers: ({ size, position }: { size: number; position: number }) => ({
    zh: `${size} 个事件的检查点与数据块不一致（序号 ${position}）`,
    en: `the checkpoint of ${size} events differs from the tiles (at position ${position})`,
  }),
  CheckpointDiffers: ({ source, size }: Checkpoint) => ({
    zh: `前 ${size} 个事件与同一大小的${CHECKPOINT_NAMES[source].zh}不一致`,
    en: `the first ${size} events differ from ${CHECKPOINT_NAMES[source].en} of that size`,
  }),
  CheckpointDiffersAfter: ({ source, size, agreed }: Checkpoint & { agreed: number }) => ({
    zh: `前 ${size} 个事件与同一大小的${CHECKPOINT_NAMES[source].zh}不一致（大小为 ${agreed} 的树一致）`,
    en:
      `the first ${size} events differ from ${CHECKPOINT_NAMES[source].en} of that size ` +
      `(the tree of size ${agreed} agrees)`,
  }),
  CheckpointEventsMissing: ({ source, size, events }: Checkpoint & { events: number }) => ({
    zh: `${CHECKPOINT_NAMES[source].zh}包含 ${size} 个事件，但这里只有 ${events} 个`,
    en: `${CHECKPOINT_NAMES[source].en} has ${size} events, but only ${events} are here`,
  }),
  NextCheckpointDiffers: ({ size }: { size: number }) => ({
    zh: `前 ${size} 个事件与下一个检查点不一致，或该检查点没有签名`,
    en: `the first ${size} events differ from the next checkpoint, or it is not signed`,
  }),
  SignerUnknown: ({ source, size }: Checkpoint) => ({
    zh: `大小为 ${size} 的${CHECKPOINT_NAMES[source].zh}不是用本站密钥签名的`,
    en: `${CHECKPOINT_NAMES[source].en} of size ${size} is not signed with a key of the site`,
  }),
  SignerOfOtherLog: ({ source, size, origin, key }: OfOtherLog) => ({
    zh: `大小为 ${size} 的${CHECKPOINT_NAMES[source].zh}属于日志 ${origin}，却由 ${key} 的密钥签名`,
    en:
      `${CHECKPOINT_NAMES[source].en} of size ${size} is of the log ${origin}, but is signed ` +
      `with the key of ${key}`,
  }),
  SignerRetired: ({ source, size, until }: Checkpoint & { until: number }) => ({
    zh: `大小为 ${size} 的${CHECKPOINT_NAMES[source].zh}由已停用的密钥签名（该密钥在大小 ${until} 时停用）`,
    en:
      `${CHECKPOINT_NAMES[source].en} of size ${size} is signed with a key that was retired at ` +
      `size ${until}`,
  }),
  SignerNotInForce: ({ source, size, from }: Checkpoint & { from: number }) => ({
    zh: `大小为 ${size} 的${CHECKPOINT_NAMES[source].zh}由尚未启用的密钥签名（该密钥自大小 ${from} 起启用）`,
    en:
      `${CHECKPOINT_NAMES[source].en} of size ${size} is signed with a key that was not in force ` +
      `before size ${from}`,
  }),
  EventsNotSigned: ({ size }: { size: number }) => ({
    zh: `本站只签名了前 ${size} 个事件，未签名此事件及之后的事件`,
    en: `only the first ${size} events are signed by the site, not this one and later ones`,
  }),
  EventsNotWitnessed: ({ size, quorum }: { size: number; quorum: number }) => ({
    zh: `您指定的见证人中，只有前 ${size} 个事件得到 ${quorum} 位签名，此事件及之后的事件没有`,
    en:
      `only the first ${size} events are signed by ${quorum} of the witnesses that you named, ` +
      'not this one and later ones',
  }),
}

/**
 * The texts of the findings about the keys of the log and about the rotations that replace a key.
 */
const KEY_TEXTS = {
  LogKeyRetired: {
    zh: '透明日志的密钥已轮换，本进程不再签名检查点：请将 TRANSPARENCY_LOG_KEY 设为新密钥',
    en:
      'the key of the transparency log was rotated, so this process signs no checkpoints: ' +
      'set TRANSPARENCY_LOG_KEY to the new key',
  },
  LogKeyDiffers: {
    zh:
      '数据库中的透明日志使用另一个密钥，本进程不签名检查点：' +
      '请用原来的 TRANSPARENCY_LOG_KEY 或 SECRET_KEY 启动',
    en:
      'the transparency log of this database has another key, so this process signs no ' +
      'checkpoints: start with the original TRANSPARENCY_LOG_KEY or SECRET_KEY',
  },
  KeyMalformed: { zh: '密钥格式应为 name+hash+base64', en: 'a key has the form name+hash+base64' },
  KeyHashDiffers: ({ name, id, expected }: { name: string; id: string; expected: string }) => ({
    zh: `密钥 ${name} 的哈希应为 ${expected}，而不是 ${id}`,
    en: `the hash of the key ${name} is ${expected}, not ${id}`,
  }),
  KeyNotOfWitness: ({ name }: { name: string }) => ({
    zh: `密钥 ${name} 不是见证人的密钥：见证人的密钥类型应为 4（cosignature）`,
    en: `the key ${name} is not the key of a witness, which has the kind 4 (cosignature)`,
  }),
  WitnessKeyOfSite: ({ name }: { name: string }) => ({
    zh: `见证人 ${name} 的密钥是本站自己的密钥`,
    en: `the key of the witness ${name} is a key of the site itself`,
  }),
  RotationKeysEqual: {
    zh: '密钥轮换的新旧密钥相同',
    en: 'a rotation of the key names one key twice',
  },
  RotationOfOtherLog: {
    zh: '密钥轮换中的密钥属于另一份日志',
    en: 'a rotation of the key names a key of another log',
  },
  RotationUnsigned: ({ size }: { size: number }) => ({
    zh: `大小 ${size} 处的密钥轮换没有新旧两个密钥的签名`,
    en: `the rotation of the key at size ${size} is not signed with both keys`,
  }),
  RotationUntrusted: ({ size }: { size: number }) => ({
    zh: `大小 ${size} 处的密钥轮换没有通向任何受信任的密钥`,
    en: `the rotation of the key at size ${size} leads to no trusted key`,
  }),
  RotationMissing: {
    zh: '两个受信任的密钥之间没有轮换记录',
    en: 'no rotation leads from one trusted key to the other',
  },
  RotationsContradict: ({ size, otherSize }: { size: number; otherSize: number }) => ({
    zh: `大小 ${size} 和 ${otherSize} 处的两次密钥轮换使用了同一个密钥`,
    en: `two rotations, at sizes ${size} and ${otherSize}, name the same key`,
  }),
  RotationTreeDiffers: ({ size }: { size: number }) => ({
    zh: `大小 ${size} 处的密钥轮换签名的是另一棵树`,
    en: `the rotation of the key at size ${size} was signed over another tree`,
  }),
}

/** The texts of the findings about the transparency log, its signed checkpoints and its keys. */
export const LOG_TEXTS = { ...LOG_CONTENT_TEXTS, ...CHECKPOINT_TEXTS, ...KEY_TEXTS }
