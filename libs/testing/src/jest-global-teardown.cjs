module.exports = async () => {
  await globalThis.__nightshiftRunServers?.stop();
};
