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
