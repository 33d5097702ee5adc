// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// The utility token's price in USD, read as Chainlink's feeds are. Anybody may set it.
contract PriceFeed {
    string public constant description = "TABLE / USD";
    uint8 public constant decimals = 8;
    uint256 public constant version = 1;

    uint80 private round;
    int256 private answer;
    // 0: as fresh as the block in which it is read, however long nobody has set anything.
    uint256 private updatedAt;

    /// Set a price that never grows old.
    function set(int256 price) external {
        setAsOf(price, 0);
    }

    /// Set a price that was true at `moment` (Unix seconds) and grows old from then on.
    function setAsOf(int256 price, uint256 moment) public {
        round += 1;
        answer = price;
        updatedAt = moment;
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        uint256 moment = updatedAt == 0 ? block.timestamp : updatedAt;
        return (round, answer, moment, moment, round);
    }
}
