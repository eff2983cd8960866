// Reading of a chosen file within the bounds of its size and of a message.

/**
 * @param {Pick<File, "size" | "text">} file
 * @param {number} most Bytes of the file.
 * @param {number} mostMessage Bytes of its text as JSON.
 * @returns {Promise<{ text: string } | { problem: "size" | "unreadable" }>}
 */
export async function readText(file, most, mostMessage) {
  if (file.size > most) return { problem: "size" };
  try {
    const text = await file.text();
    const bytes = new TextEncoder().encode(JSON.stringify(text)).length;
    return bytes > mostMessage ? { problem: "size" } : { text };
  } catch {
    return { problem: "unreadable" }; // it was moved meanwhile, or is a folder
  }
}
